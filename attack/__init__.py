"""Attacks that are run again and again: `make fuzz` and `make attack`; see docs/security.md."""
