"""Finding a person's own items that a request is about.

In pipeline order:

- `item_text`, `item_line`: items as text, for search and prompts.
- `item_arrays`: a person's items as arrays (`PersonView`).
- `feature_context`: a request and those items; intermediate results that features share.
- `features`: the ranker's inputs, declared one by one; `learned_features`: those learned from
  labelled requests; `item_similarity`: how items are related to each other.
- `item_ranker`, `second_stage`: the LambdaMART artefact, and its listwise second pass;
  `artefact/` holds the packaged one with its card.
- `fusion`: weighted reciprocal rank fusion.
- `candidates`, `projection`: which items of a person with many are ranked at all.
- `retrieve`: candidates, rankings, fusion (`ContextRetriever`).
- `explain`: why an item ranks where it does.
"""
