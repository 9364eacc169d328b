"""Tool discovery: tables 1 and 2 of its paper.

- `run`: tokens, latency and recall; `data`: requests that name the tools they need.
- `given`: what an agent is given of what is found.
- `load`, `scale`: many clients at once; how a search's time grows with the catalogue.
- `sessions`: sessions played from the script `episodes.json`.
"""
