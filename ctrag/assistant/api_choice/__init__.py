"""Which of the applications' APIs a request needs, with and without retrieved context.

- `retrieve`: the APIs in order (`ToolRetriever`).
- `classifier`, `classifier_features`: encoders tuned to name the API from request and items;
  `artefact/` holds the packaged one with its card.
- `item_weights`: how much each retrieved item counts.
- `new_apps`: the same for APIs of further applications, which nobody has trained on.
"""
