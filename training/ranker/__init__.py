"""The context ranker.

- `train`: LambdaMART's two passes and the weights of their fusion; `settings`; `lambdamart`: the
  trees.
- `learned_features`: features that are learned from labels themselves; `tuned_encoder`: readings
  out
  of fold.
- `tuning`, `ablation`: hyper-parameters; ablation by feature group.
- `on_dask`: on more machines; `synthetic`: what is learned from synthetic people.
"""
