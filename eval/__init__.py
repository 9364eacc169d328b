"""Scores, significance and the papers' experiments; it trains nothing.

- `core`: what experiments share: their JSON, labelled requests, scores, intervals, tables.
- `context`, `tools`, `planner`, `synth`: the context-tuning paper (`ctrag eval context`, …).
- `spoken`: plain requests of strangers, by the API and the words that a call keeps.
- `discovery`, `dependency`, `instructions`: the papers on tool discovery, on tool dependencies and
  on instruction-tool retrieval.
- `calls`: single calls on external benchmarks.
- `learning`, `usage`, `replay`: what recordings and a person's own use teach.
- `fetch`: other people's data from their sources.
- `report`: HTML pages (`--report`).

In the folder of each experiment `run` is the experiment.
"""

from ctrag.extras import need

need("an experiment", "ir_measures", "matplotlib", "sklearn", "torch", extra="eval")
