"""The API classifier: encoders tuned to name the API from request and items.

- `train`, `network`, `examples`.
"""
