"""Folders to measure on, made from a user's checkout of their source: `ctrag eval fetch`.

Nothing is downloaded and no code of a checkout runs: files are read, Python is parsed.

- `sources`: which there are, under which licences, and what writes them.
- `tau2`, `tooltalk`, `ultratool`, `seal_tools`: one source each.
- `docstrings`: tools described by the docstrings of Python functions.
"""
