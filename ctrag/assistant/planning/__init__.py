"""From request, items and tools to one checked API call.

- `plan`: the plan's syntax, and its check against a toolbox.
- `candidate_values`: which values arguments may take, and where each was found.
- `value_ranker`: ranks them; `artefact/` holds the packaged ranker.
- `grammar`: the grammar of all plans that are possible for one request.
- `planner_prompt`: the language model's prompt, under a token budget.
- `interface`: input and output of every planner (`PlanRequest`, `Planned`, `Planner`).
- `ranked_values`: the step `values.rank`, every argument's values best first (`rank_values`).
- `embedded`: a small Llama model on this machine, decoding under that grammar.
- `endpoint`: any OpenAI-compatible endpoint, held to the same values by `checks`.
- `planner`: the planner that the settings name.
"""
