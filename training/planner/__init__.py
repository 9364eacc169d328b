"""The planner's LoRA adapter: loss on the plan alone, several requests behind one context.

- `train`, `examples`.
"""
