"""Learning from labelled requests: most packages' `train` writes an artefact with a
card.

- `core`: the torch training loop, folds by person, cross-fitting, provenance for cards.
- `ranker`, `encoder`: context retrieval (`ctrag train ranker`, `encoder`).
- `api_classifier`: the API that a request needs (`ctrag train tools`).
- `values`, `planner`: argument values; the language model's adapter (`ctrag train values`,
  `planner`).
- `slots`: the adapter that reads what a request says (`ctrag train slots`); `said`, `plainness`:
  whether a value was said, and whether a request is plain.
- `confidence`: the choice among calls and the confidence in it (`ctrag train confidence`).
- `breaks`: where one request of a breath ends (`ctrag train breaks`).
- `pack`: training jobs for other machines (`ctrag train pack`, `unpack`).
- `next_tool`: the next tool, from demonstrations (`ctrag train dependency`).
- `prompts`: the re-ranker of prompts (`ctrag train reranker`).
- `tool_search`: the search in any agent's tools (`ctrag train tool-encoder`, `tool-ranker`,
  `surfacing`).

Whatever learns from labels and feeds another learner is cross-fitted by person.
"""

from ctrag.extras import need

need("training", "torch", "sklearn", "lightgbm", "peft", "optuna", extra="train")
