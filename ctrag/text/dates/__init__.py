"""Temporal expressions: the times, days and durations that a text names.

- `number_words`, `clock_words`, `duration_words`, `calendar_days`, `counted_days`, `day_words`,
  `part_words`: the vocabulary, part by part.
- `spelling`, `written_times`, `usual_times`, `bare_ranges`: what is typed or said otherwise, in the
  usual way.
- `time_phrases`: the parts found in a request, with what is refused, corrected or only a limit.
- `offset_clocks`: times counted from others.
- `half_days`: morning or evening, for an hour to which something is moved.
- `temporal_expressions`: what they mean at a given time, as spans and as argument values.
"""
