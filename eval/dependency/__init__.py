"""The next tool from request and history: tables 2 and 4, figures 3 to 5 of the DTDR paper.

- `run`: the experiment; `steps`: where each step's next tool ranks; `figures`: measures and
  intervals.
- `ablation`, `endpoint`, `prompt`: ablations; baselines by an endpoint; masks in a
  prompt.
- `report`: its page.
"""
