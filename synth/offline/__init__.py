"""Synthesis without a model: a life first, then the items that follow from it, then requests.

Modules, in order of data flow:

- `countries`: towns, names, telephone numbers, money (`data/countries.yaml`, Faker's names).
- `acquaintances`, `household`, `trades`, `life`: whom somebody knows, lives with, works as.
- `moments`, `wording`: times computed from the calendar and then written; templates.
- `addressing`: what a contact is called, by a name with or without a title.
- `written`: the packaged scenes' threads, which lives take as plots and borrow from.
- `homes`: how somebody tells where and with whom they live.
- `searching`: what is looked up for what somebody likes, hears and goes to.
- `open_days`: on which days somebody can be met somewhere.
- `strand_lines`, `strands`: a few items of one life that belong together, as they are written.
- `plots`: a life with a plot, its circle, and what is around it.
- `matters`, `music`, `usage`: what happens (`data/matters`), songs, how items are used.
- `people`: whole people with the wanted numbers of items.
- `calls`, `thoughts`: what goes with a labelled call; chains of thought.
- `asking`: what requests are made from, and the way in which a person speaks.
- `plain` (its words, questions and orders), `fresh`, `oblique`, `talks`: requests by level.
- `own_apps`, `own_requests`: items and requests of user-declared applications.
- `provider`: `OfflineProvider`, which combines them.
"""

from synth.offline.provider import OfflineProvider

__all__ = ["OfflineProvider"]
