"""Instruction-tool retrieval: the tables of the ITR paper.

- `run`: the experiment; `experiment_context`, `steps`: its data; `methods`: what each method shows.
- `tool_choice`, `tool_choice_rows`, `name_choice`: which tool a language model then calls.
- `summary`, `figures`, `table`, `report`: from rows to tables and a page.
- `ablations`, `sufficiency`, `other_agents`, `unit_labels`: under `extra`; `labels/` has the
  labels.
"""
