"""Synthetic data: its value for training (`run`), and the quality of its texts (`texts`)."""
