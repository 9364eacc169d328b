"""Sources elsewhere, read and never written: what changed there changes here, what vanished goes.

- `accounts`: the accounts file and its passwords.
- `source`: what a source tells (`Fetched`); `address`, `dav`, `imap`: its three kinds.
- `engine`: one synchronization into a person's stores.
"""
