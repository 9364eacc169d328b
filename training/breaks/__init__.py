"""Telling requests in one breath apart.

- `joined`: requests of training people, alone and put into one breath, with where one ends.
- `spoken`: what people said for several calls, with where one ends.
- `train`: the logistic regression over the words beside a break.
"""
