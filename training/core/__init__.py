"""Code shared by all training packages.

- `loop`, `checkpoints`: the training loop with its learning rate schedule; finished epochs on
  disk.
- `tuning`, `packed_rows`, `packed`, `adapter`: LoRA of language models, with several requests in
  a row.
- `low_rank`: low-rank changes of linear maps.
- `folds`, `shares`: folds by person; shares of data sets. `origin`: provenance of an artefact for
  its card: command, data, people by fingerprint.
- `datasets`: several labelled data sets as one; `cross_fitted`, `retrieved`: what the
  ranker returns for each request, by models that never saw its person.
- `figures`: figures of scores over labelled requests.
"""
