"""The next tool, from the request and the calls so far (dynamic tool dependency retrieval).

- `demonstrations`: requests with their calls, read from files; what is held out.
- `graph`: graphs of histories, one per cluster of requests (DTDR-C), and histories whose steps
  count by how like the requests are.
- `linear`: softmax over an encoder's vector (DTDR-L, learned retriever), least squares.
- `baselines`: random, lexical, semantic, last call, n-grams.
- `vocabulary`, `inputs`, `texts`: words, a step as numbers, what tools say of themselves.
- `memory`: demonstrations kept by counting; grows while an agent runs.
- `precedents`: similar demonstrations, weighed by kernel regression.
- `evidence`: the signals of the combined ranker.
- `observed`: the log of what was observed.
- `artefact`: the files of a fitted model.
- `next_tool`: all of it as one object (`NextTool`); `training.next_tool.train` fits it.
"""

from ctrag.agents.next_tool.demonstrations import END, Demonstration, load_demonstrations
from ctrag.agents.next_tool.next_tool import METHODS, NextTool

__all__ = ["END", "METHODS", "Demonstration", "NextTool", "load_demonstrations"]
