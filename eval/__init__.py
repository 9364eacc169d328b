"""Scores, significance and the papers' experiments; it trains nothing.

- `examples`: a data set with its labels, as scenes and relevance.
- `ranking`, `plans`, `bfcl`: scores of rankings and plans; BFCL's verdicts on other people's calls.
- `bfcl_reference`, `call_cases`: BFCL's own cases and checker; other people's requests with calls.
- `intervals`: bootstrap intervals and paired tests over people.
- `calibration`: whether a confidence means what it says.
- `experiment`, `tables`: the JSON that an experiment leaves, and the table that it prints.
- `importance`, `misses`: what each signal is worth, and what is still not found.
- `report`, `report_tables`, `plots`, `svg`, `context_report`, `context_figures`: the page of
  `--report`.
- `thoughts`: thoughts generated for requests, remembered between runs.
- `sessions`: sessions with many tools, played from a script (`episodes.json`).
- `discovery`, `discovery_data`, `discovery_scale`: tokens, recall and latency of tool search;
  `discovery_load`: many clients that search while tools come and go.
- `dependency`: the next tool, as in the paper on tool dependencies; `dependency_steps` (ranks and
  roll-outs), `_figures`, `_endpoint` (methods that ask a language model), `_ablation`, `_prompt`,
  `_report` (the page).
- `context`, `tools`, `planner`: one experiment per table of the context-tuning paper.
- `instructions`: prompts of a few fragments and tools against whole ones; `instruction_steps` (data
  and catalogue), `_elsewhere` (other agents' steps), `_workshop` (what prompts are made of),
  `_prompts` (what each method shows), `_figures`, `_sufficiency`, `_summary`, `_ablations`,
  `_labels`, `_table`, `_report` (the page); `labels/` has hand-made labels and the list of the
  catalogue.
- `tool_choice`, `name_choice`, `tool_choice_rows`: which exposed tool a language model names, how
  that is read from it, remembered.
- `calls`: one call of other people's tools.
- `rows`: rows of a long run, kept in a file as they come.
- `planner_rows`: what a planning setting shows, and the plans decoded from it.
"""

from ctrag.extras import need

need("an experiment", "ir_measures", "matplotlib", "sklearn", "torch", extra="eval")
