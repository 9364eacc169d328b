"""Finding a person's own items that a request is about.

In the order of a request's way:

- `words`, `trigrams`, `lexical`: text as words, and BM25 over them.
- `number_words`, `clock_words`, `duration_words`, `day_words`, `timed_request`, `moments`: the
  times that it names.
- `item_text`: items as words, for search and prompts.
- `view`: a person's items as arrays (`PersonView`).
- `scene`: a request beside those items; what the signals share.
- `signals`: the ranker's inputs, declared one by one.
- `prior`: signals learned from labelled requests; the tuned encoder's scores.
- `links`, `company`: what ties items to each other, and the second pass over items seen together.
- `ranker`: the LambdaMART artefact; `artefact/` holds the packaged one with its card.
- `fusion`: weighted reciprocal rank fusion.
- `candidates`, `coarse`: which items of a person with many are ranked at all.
- `retrieve`: candidates, rankings, fusion (`ContextRetriever`).
- `reasons`: why an item ranks where it does, in words.
- `thought`, `thought_writers`: a sentence on which of the person's data would decide a request;
  `prompts/` holds its prompt.
- `bm25t`: BM25 with a k1 per term, for comparison.
"""
