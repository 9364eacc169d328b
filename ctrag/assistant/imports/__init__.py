"""A person's own files as items and contacts: each reader takes bytes and gives `Found`.

- `found`: what a reader gives: items, contacts, and what was left out and why.
- `sources`, `kinds`, `files`: the files under a path, what each is, and its records.
- `run`, `report`: records into stores, batch by batch, and what became of them; `superseding`,
  `cancelled` and `changed_here` say which count.
- `cards`, `card_lines`, `contact_tables`, `merging`, `birthdays`: contacts.
- `calendars`: iCalendar files. `calendar_lines` splits them into components, `calendar_versions`
  says which belong together, `calendar_records` keeps what was read of them, `calendar_text`,
  `calendar_times` and `calendar_todos` read those, `zones` knows names of time zones, `rules` and
  `series` work out what repeats, `further` continues it later.
- `mails` and `mail`: mails.
- `notes`, `histories`, `calls`, `tables`, `json_rows`, `times`: other sources.
"""
