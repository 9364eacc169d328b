"""Deciding between what a request says and what the person's items have."""
