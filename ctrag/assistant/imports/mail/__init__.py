"""Mails: one message read into items, and the files and folders that hold messages."""
