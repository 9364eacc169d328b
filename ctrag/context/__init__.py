"""Finding a person's own items that a request is about.

In the order of a request's way:

- `words`, `trigrams`, `clock_words`, `moments`: text as words, and the times that it names.
- `item_text`: items as words, for search and prompts.
- `view`: a person's items as arrays (`PersonView`).
- `scene`: a request beside those items; what the signals share.
- `signals`: the ranker's inputs, declared one by one.
- `prior`: signals learned from labelled requests.
- `ranker`: the LambdaMART artefact; `artefact/` holds the packaged one with its card.
- `fusion`: weighted reciprocal rank fusion.
- `retrieve`: candidates, rankings, fusion (`ContextRetriever`).
"""
