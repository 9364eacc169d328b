"""The next tool, from the request and the calls so far (dynamic tool dependency retrieval).

- `demonstrations`: requests with their calls, read from files; what is held out.
- `graph`: graphs of histories, one per cluster of requests (DTDR-C), and steps weighted by the
  similarity of their requests.
- `linear`: softmax over a request's embedding (DTDR-L, learned retriever), least squares.
- `baselines`: random, lexical, semantic, last call, n-grams.
- `vocabulary`, `inputs`, `texts`: TF-IDF vectors, a step as a feature vector, the tools' texts.
- `memory`: counts over demonstrations; grows while an agent runs.
- `precedents`: similar demonstrations, weighted by kernel regression.
- `evidence`, `combined`: the features of the combined ranker, and its trees.
- `methods`: what each method says.
- `known_tools`: the catalogue by numbers and ids, which grows.
- `observed`, `growth`: the log of observed requests; what a model learns of them at once.
- `artefact`: the files of a fitted model.
- `next_tool`: `NextTool`, which joins all of these; `training.next_tool.train` fits it.
- `traces`: counts of traces alone, where nothing was fitted.
- `opening`: the one model of a process, fitted or counted, by its path.
- `teaching`: what recorded sessions teach a model while it runs.
"""

from ctrag.agents.next_tool.demonstrations import END, Demonstration, load_demonstrations
from ctrag.agents.next_tool.methods import METHODS
from ctrag.agents.next_tool.next_tool import NextTool

__all__ = ["END", "METHODS", "Demonstration", "NextTool", "load_demonstrations"]
