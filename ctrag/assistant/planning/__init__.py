"""From request, items and tools to one checked API call.

- `plan`: the plan's syntax, and its check against a toolbox.
- `candidate_values`: which values arguments may take, and where each was found.
- `value_ranker`: ranks them; `artefact/` holds the packaged ranker.
- `grammar`: the grammar of all plans that are possible for one request.
- `planner_prompt`: the language model's prompt, under a token budget.
- `interface`: input and output of every planner (`PlanRequest`, `Planned`, `Planner`).
- `ranked_values`: the step `values.rank`, every argument's values best first (`rank_values`).
- `slot_filler`: what the request itself says of a tool's arguments, read by a small language model.
- `slots`: a call composed of what was said and of ranked values; `mentions` finds who is meant.
- `said`, `plainness`: whether a value was said, or is one that the person has.
- `call_choice`: which of a few composed calls is meant.
- `confidence`: one calibrated probability for the whole call; `limits` keeps some calls unsure.
- `logistic`: the logistic regressions of these.
- `embedded`: composes the call, or lets a small Llama model decode it under that grammar.
- `endpoint`: any OpenAI-compatible endpoint, held to the same values by `checks`.
- `planner`: the planner that the settings name.
"""
