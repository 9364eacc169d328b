"""Learning from labelled requests: each module leaves an artefact with a card.

- `folds`: people into folds; whatever learns from labels and feeds a learner is cross-fitted.
- `prior`: what requests of a meaning needed before (`ctrag.context.prior`).
- `encoder`: the adapter that points requests at items (`ctrag train encoder`); `encoder_network` is
  the torch module, `tuned_encoder` what the ranker learns from.
- `figures`: figures of scores over labelled requests.
- `tuning`, `ablation`: hyper-parameters by optuna; what each group of signals is worth.
- `together`, `shares`: several data sets as one; how much is learned from each.
- `retrieved`: requests with what retrieval brings, by models that never saw their people.
- `reader`: the tool reader (`ctrag train tools`); `reader_examples` is what it practises,
  `reader_network` the torch module.
- `arguments`: the ranker of the values of a call's arguments (`ctrag train values`).
- `loop`, `checkpoints`, `schedule`: steps of all trainings with torch; finished epochs on disk; how
  the learning rate goes.
- `origin`: where an artefact comes from, for its card: command, data, people by fingerprint.
- `low_rank`: low-rank changes of an encoder while they are learned.
- `tool_encoder`, `tool_ranker`: the encoder and the weights of the search in any agent's tools
  (`ctrag train tool-encoder`, `tool-ranker`).
- `planner_examples`, `packs`, `planner`: the planner's LoRA adapter (`ctrag train planner`).
- `reranker`, `reranker_decisions`: the cross-encoder of prompts, from other people's catalogues
  (`ctrag train reranker`).
- `ranker`: both passes of LambdaMART and the weights of the fusion (`ctrag train ranker`);
  `cross_fitted` (requests with scores by models that never saw their people), `lambdamart`,
  `dask_ranker` (the trees on more than one machine), `ranker_settings`.
- `dependency`: the next tool, from demonstrations (`ctrag train dependency`); `dependency_trees`,
  the cross-fitted trees of its combined ranker, `dependency_settings`.
"""

from ctrag.extras import need

need("training", "torch", "sklearn", "lightgbm", "peft", "optuna", extra="train")
