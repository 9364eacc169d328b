"""A person's own files as items and contacts: each reader takes bytes and gives `Found`.

- `found`: what a reader gives: items, contacts, and what was left out and why.
- `files`: from a path to people with items.
"""
