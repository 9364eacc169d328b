"""The slot filler's LoRA adapter: from a request and a tool to what the request says of its slots.

- `examples`: labelled plans, and strangers' requests with marked entities, as answers.
- `train`.
"""
