"""Plain requests of strangers: the right API, and the words that its call keeps.

- `run`: the experiment; `scores`: the form of the requests, and the verdict on a plan.
"""
