"""Synthesis without a model: labelled people told anew, and requests composed around them.

Modules, in the order in which data flows through them:

- `sources`: the labelled people that new ones are made from (scenes and reference train).
- `names`, `dates`: other names from the same country; the same season in another year.
- `rewriting`: a source told again: texts, items, requests and plans change together.
- `life`: the vocabulary of everyday things (`data/life.yaml`).
- `people`: tastes and acquaintances of a new person, and recognising who a person was told from.
- `fillers`, `guard`: distractors, and what they must not be so that labels stay right.
- `usage`: traces of habits.
- `thoughts`, `wording`: chains of thought, and saying the same a little differently.
- `composer`, `situations`: requests composed from what is on any phone (`data/requests.yaml`).
- `own_apps`: items and requests of applications that a user declared.
- `provider`: `OfflineProvider`, which joins them.
"""

from synth.offline.provider import OfflineProvider

__all__ = ["OfflineProvider"]
