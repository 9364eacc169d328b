"""What happened, step by step.

- `trace`: the inputs and outputs of a request's steps; what `--explain` and `--json` print.
- `record`: sessions as files, one request a line.
"""
