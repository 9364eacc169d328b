"""Temporal expressions: which moments, days and durations a text names.

- `number_words`, `clock_words`, `duration_words`, `day_words`: the vocabulary, part by part.
- `time_phrases`: the parts found in a request.
- `temporal_expressions`: what they mean at a given moment, and how well an item's time fits them.
"""
