"""Telling plain requests from those that only hint at what the person has."""
