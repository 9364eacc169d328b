"""The next tool from request and history: tables 2 and 4, figures 3 to 5 of the DTDR paper.

- `run`: the experiment; `steps`: where each step's next tool ranks; `figures`: measures and
  intervals.
- `ablation`, `new_tools`, `endpoint`, `prompt`: ablations; tools without demonstrations; baselines
  by an endpoint; masks in a prompt.
- `table`, `report`: its tables of text, and its page.
"""
