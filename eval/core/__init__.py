"""What experiments share.

- `experiment`: the JSON result of an experiment; `rows`: rows of a long run, saved as they
  are computed.
- `examples`: a data set with its labels, as rankers see it.
- `ranking`, `plans`, `grounded`, `calibration`: the scores; `intervals`: how far they may be
  trusted.
- `tables`: plain-text tables.
"""
