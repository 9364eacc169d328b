"""Single calls on external benchmarks: BFCL, ToolTalk and catalogue folders.

- `run`: the experiment; `cases`: requests with the calls that they want.
- `bfcl`, `bfcl_reference`: the verdict of BFCL's AST check, and its own checker.
"""
