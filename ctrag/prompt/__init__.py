"""Prompts under a token budget.

- `planner`: the prompt of the assistant's planner.
"""
