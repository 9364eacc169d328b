"""Training jobs as folders that run on another machine, with torch, transformers, peft and numpy.

- `write`: a job from data and a base model; `read`: the artefact from its results.
- `slices`, `job`: what the folder carries and runs, together with `training.core`'s `loop`,
  `packed_rows` and `tuning`; they import nothing else of this repository.
"""
