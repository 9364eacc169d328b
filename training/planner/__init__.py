"""The planner's LoRA adapter: loss only on the plan, several requests sharing one context.

- `train`, `examples`.
"""
