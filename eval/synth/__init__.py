"""Synthetic data: what is learned from it (`run`), and how its requests read (`texts`)."""
