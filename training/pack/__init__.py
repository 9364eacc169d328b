"""Training jobs as folders that run on another machine, with torch, transformers, peft and numpy.

- `write`: a job from data and a base model; `read`: the artefact from its results.
- `job` runs a folder: `adapter_job` or `tool_encoder_job`, by what is trained, with `base_model`,
  `given` and `slices`. These and what they carry of `training.core` and `training.tool_search`
  (`write` lists it) import nothing else of this repository.
"""
