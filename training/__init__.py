"""Learning from labelled requests: each folder's `train` leaves an artefact with a card.

- `core`: the loop of all trainings with torch, people into folds, cross-fitting, cards' origin.
- `ranker`, `encoder`: context retrieval (`ctrag train ranker`, `encoder`).
- `api_classifier`: which API a request needs (`ctrag train tools`).
- `values`, `planner`: a call's values; the language model's adapter (`ctrag train values`,
  `planner`).
- `next_tool`: the next tool, from demonstrations (`ctrag train dependency`).
- `prompts`: the re-ranker of prompts (`ctrag train reranker`).
- `tool_search`: the search in any agent's tools (`ctrag train tool-encoder`, `tool-ranker`).

Whatever learns from labels and feeds another learner is cross-fitted by person.
"""

from ctrag.extras import need

need("training", "torch", "sklearn", "lightgbm", "peft", "optuna", extra="train")
