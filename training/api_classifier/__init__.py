"""The API classifier: encoders tuned to predict the API from request and items.

- `train`, `network`, `examples`.
"""
