"""The context ranker.

- `train`: LambdaMART's two passes and the weights of their fusion; `settings`; `lambdamart`: the
  trees.
- `learned_features`: features that are themselves learned from labels; `tuned_encoder`:
  out-of-fold readings.
- `tuning`, `ablation`: hyper-parameters; ablation by feature group.
- `on_dask`: distributed training; `synthetic`: the value of synthetic people.
"""
