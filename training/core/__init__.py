"""What trainings share.

- `loop`, `checkpoints`: the loop over batches with its learning rate, finished epochs on
  disk.
- `low_rank`: low-rank changes of linear maps.
- `folds`, `shares`: people into folds; shares of data sets. `origin`: where an artefact comes from,
  for its card: command, data, people by fingerprint.
- `datasets`: several labelled data sets as one; `cross_fitted`, `retrieved`: what the ranker says
  of
  each request, by models that never saw its person.
- `figures`: figures of scores over labelled requests.
"""
