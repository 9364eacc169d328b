"""Synthetic people: the packaged ones, and new ones at any size.

- `reference`: the data sets that ctrag ships.
- `provider`: what makes people and requests, one person at a time (`Provider`).
- `offline`: a provider without a model; `openai`: one that asks an endpoint, with its questions in
  `prompts/`.
- `shape`: how much of what, by the paper's tables; `checks`: what makes a request unfit.
- `dataset`: whole data sets from a provider; `workers`: threads, processes or Dask for it.
- `toolbox`: APIs of further applications.
- `inspect`: what a data set holds, in numbers and examples.
"""
