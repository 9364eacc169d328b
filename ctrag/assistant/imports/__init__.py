"""A person's own files as items and contacts: each reader takes bytes and gives `Found`.

- `found`: what a reader gives: items, contacts, and what was left out and why.
- `calendars`: iCalendar files. `calendar_lines` splits them into components, `calendar_versions`
  says which belong together, `calendar_text` and `calendar_times` read those, `zones` knows names
  of time zones, `rules` and `series` work out what repeats, `further` continues it later.
- `files`: from a path to people with items.
"""
