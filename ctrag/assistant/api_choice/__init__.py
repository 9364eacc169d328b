"""Which of the applications' APIs a request needs, with and without retrieved context.

- `retrieve`: ranks the APIs (`ToolRetriever`).
- `classifier`, `classifier_features`: encoders tuned to predict the API from request and items;
  `artefact/` holds the packaged one with its card.
- `item_weights`: the weight of each retrieved item.
- `new_apps`: probabilities for APIs of further applications, which are in no training data.
"""
