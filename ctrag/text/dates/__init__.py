"""Temporal expressions: the times, days and durations that a text names.

- `number_words`, `clock_words`, `duration_words`, `calendar_days`, `day_words`, `part_words`: the
  vocabulary, part by part.
- `time_phrases`: the parts found in a request, with what is refused, corrected or only a limit.
- `spelling`, `usual_times`: times as they are typed, rewritten to the usual forms.
- `temporal_expressions`: what they mean at a given time, as spans and as argument values.
"""
