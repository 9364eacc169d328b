"""One call of any agent's tools, planned by the embedded language model.

- `plan_call`: tool by search, arguments by the model (`CallPlanner`).
- `filling`: one argument after the other; `call_grammar`: what each may be.
- `spans`: the request's words that a value may be copied from.
"""
