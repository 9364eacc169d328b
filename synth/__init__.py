"""Synthetic people: the packaged ones, and tools to make more.

- `reference`: where the packaged people are.
- `provider`: what makes people and requests, as a protocol; `offline` does it without a model,
  `openai` by asking one (its prompts are in `prompts`).
- `shape`: sizes, parts and kinds of a data set, from each person's number alone.
- `checks`: validating requests and detecting repeats.
- `job`, `workers`, `writing`, `dataset`: one person as lines of files; the work shared by threads,
  processes or a Dask cluster; folders under temporary names; whole data sets.
- `toolbox`: APIs of custom applications.
- `consistency`, `blind`: faults of made people; a reading that tells them from others, or not.
- `inspect`: tables, distributions and requests of a data set.
"""
