"""Temporal expressions: the times, days and durations that a text names.

- `number_words`, `clock_words`, `duration_words`, `day_words`: the vocabulary, part by part.
- `time_phrases`: the parts found in a request.
- `temporal_expressions`: what they mean at a given time, as spans and as argument values.
"""
