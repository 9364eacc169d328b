"""Synthesis without a model: labelled people rewritten as new ones, with composed requests.

Modules, in order of data flow:

- `sources`: the labelled people that new ones are based on (scenes and reference train).
- `names`, `dates`: replacement names from the same country; dates moved to another year.
- `rewriting`: a source under other names and dates, consistently in texts, items and plans.
- `life`: the vocabulary of everyday things (`data/life.yaml`).
- `people`: preferences and acquaintances of a new person; recognising the source of a person.
- `fillers`, `guard`: distractor items, and a check that they do not invalidate labels.
- `usage`: usage statistics that reflect habits.
- `thoughts`, `wording`: chains of thought, and light paraphrases.
- `composer`, `situations`: requests composed from the items on any phone (`data/requests.yaml`).
- `own_apps`: items and requests of user-declared applications.
- `provider`: `OfflineProvider`, which combines them.
"""

from synth.offline.provider import OfflineProvider

__all__ = ["OfflineProvider"]
