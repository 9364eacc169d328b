"""What experiments share.

- `experiment`: the JSON file that an experiment leaves; `rows`: rows of a long run, kept as they
  come.
- `examples`: a data set with its labels, as rankers see it.
- `ranking`, `plans`, `grounded`, `calibration`: the scores; `intervals`: how far they may be
  trusted.
- `tables`: tables for people.
"""
