"""From request, items and tools to one checked API call.

- `plan`: the plan's syntax, and its check against a toolbox.
- `values`: which values arguments may take, and where each was found.
- `arguments`: which of them an argument takes, by a learned ranker; `artefact/` holds what is
  shipped.
- `ranked_values`: the step `values.rank`, every argument's values best first (`rank_values`).
- `grammar`: the grammar of all plans that are possible for one request.
- `interface`: what every planner takes and answers (`PlanRequest`, `Planned`, `Planner`).
- `embedded`: a small Llama model on this machine, decoding under that grammar.
- `engine`, `llama_graph`: what runs the model, transformers or a graph on ONNX Runtime.
- `adapter`, `weights`: its LoRA adapter and its base.
- `calls`, `call_filling`, `call_grammar`, `spans`: one call of any agent's tools, same model.
- `grounding`: whether a plan from elsewhere keeps to the grammar's offers.
- `endpoint`: any OpenAI-compatible endpoint, held to the same grammar's offers.
- `configured`: the one of these that the settings name.
"""
