"""Training data of the planner: requests with items and tools as retrieval returns them.

Every example is retrieved for by models that never saw its person. Requests of one person are
packed behind the same items, so that these are read once (`training.core.packed`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ctrag.assistant.api_choice.classifier_features import ITEMS
from ctrag.assistant.context.item_arrays import Floats
from ctrag.assistant.context.item_line import item_line, item_name
from ctrag.assistant.planning.candidate_values import OPEN, PLACES
from ctrag.assistant.planning.plan import NONE, Plan
from ctrag.assistant.planning.planner_prompt import asking_text, context_text
from ctrag.models.chat_markup import closing, opening
from ctrag.toolbox import Toolbox
from eval.core.examples import RankingExample
from stores.people.items import Item, Person, Request

EASY = 0.15
"""Share of lessons to keep among those whose plan has nothing to write or choose."""
_RESOLVED = ("contact", "contacts", "date", "datetime")


@dataclass(frozen=True, slots=True)
class PlannerExample:
    """One request with retrieved items and tools, and the correct plan."""

    person: Person
    request: Request
    items: tuple[Item, ...]
    """Retrieved, best first."""
    relevant: tuple[Item, ...]
    apis: tuple[str, ...]
    """Retrieved APIs, best first; empty when unknown."""
    labelled: tuple[str, ...]
    """The fitting APIs, best first."""
    plan: Plan


@dataclass(frozen=True, slots=True)
class MixSettings:
    """Shares of the planner settings in training."""

    no_context: float = 0.1
    true_context: float = 0.2
    no_tools: float = 0.65
    labelled_tools: float = 0.1
    item_missing: float = 0.05
    """Share of relevant items that are hidden although the rest is shown."""
    renamed: float = 0.25
    """Share of packs whose contacts are renamed."""
    together: int = 4
    """Maximum requests in a pack."""
    most_items: int = 8
    tools: int = 5


@dataclass(frozen=True, slots=True)
class Pack:
    """Items, and the requests that follow them."""

    context: str
    asked: tuple[tuple[str, str], ...]
    """(text after the items, plan) of each request."""


def lessons(examples: Sequence[RankingExample], scores: Sequence[Floats]) -> list[PlannerExample]:
    """Lessons from labelled requests.

    Args:
        examples: Requests; those without a labelled plan are left out. Scenes with a tuned reading
            get the APIs that it predicts.
        scores: Relevance of each example's candidates, by a ranker that never saw its person.
    """
    apis = np.array([*Toolbox.packaged().names])
    found = []
    for example, score in zip(examples, scores, strict=True):
        if not example.labels.has_plan:
            continue
        context, gold = example.context, example.labels.plan
        best = np.argsort(-score, kind="stable")[:ITEMS]
        named: tuple[str, ...] = ()
        if context.tuned is not None:
            order = np.argsort(-context.tuned.apis[: len(apis)], kind="stable")
            named = tuple(str(api) for api in apis[order[:ITEMS]])
        found.append(
            PlannerExample(
                context.view.person,
                context.request,
                tuple(context.view.items[context.rows[row]] for row in best),
                tuple(
                    context.view.items[context.rows[row]]
                    for row in np.flatnonzero(example.relevance > 0)
                ),
                named,
                example.labels.tools or (),
                NONE if gold is None else Plan(gold.api, dict(gold.arguments)),
            )
        )
    return found


def practised(taught: Sequence[PlannerExample], share: float, seed: int) -> list[PlannerExample]:
    """Lessons whose API has something to write or to choose, and a sample of the others.

    Calls with only a title, or without arguments, are filled in by the ranker of values, so a
    sample of them is enough.
    """
    draw = np.random.default_rng(seed)
    toolbox = Toolbox.packaged()
    kept = []
    for lesson in taught:
        tool = toolbox.get(lesson.plan.api)
        hard = tool is not None and any(
            one.match == "text" or one.name in OPEN or one.name in PLACES or one.type in _RESOLVED
            for one in tool.arguments
        )
        if hard or draw.random() < share:
            kept.append(lesson)
    return kept


def packs(taught: Sequence[PlannerExample], mix: MixSettings, seed: int) -> list[Pack]:
    """All lessons in packs of one person each, shuffled; another seed reshuffles them."""
    draw = np.random.default_rng(seed)
    by_person: dict[str, list[PlannerExample]] = {}
    for lesson in taught:
        by_person.setdefault(lesson.person.person_id, []).append(lesson)
    everybody = [lesson.person for lesson in taught]
    found = []
    for own in by_person.values():
        order = [own[place] for place in draw.permutation(len(own))]
        for begin in range(0, len(order), mix.together):
            pack = _pack(order[begin : begin + mix.together], mix, draw)
            if draw.random() < mix.renamed:
                other = everybody[int(draw.integers(len(everybody)))]
                pack = _renamed(pack, order[0].person, other)
            found.append(pack)
    return [found[place] for place in draw.permutation(len(found))]


def _pack(chunk: Sequence[PlannerExample], mix: MixSettings, draw: np.random.Generator) -> Pack:
    way = draw.random()
    shown: dict[str, Item] = {}
    true_context = mix.no_context <= way < mix.no_context + mix.true_context
    if way >= mix.no_context:
        for lesson in () if true_context else chunk:
            for item in lesson.items[:2]:
                shown[item.id] = item
        for lesson in chunk:
            for item in lesson.relevant:
                if draw.random() >= mix.item_missing:
                    shown[item.id] = item
        if not true_context:
            for rank in range(ITEMS):
                for lesson in chunk:
                    if rank < len(lesson.items) and len(shown) < mix.most_items:
                        shown.setdefault(lesson.items[rank].id, lesson.items[rank])
    ids = list(shown)
    items = [shown[ids[place]] for place in draw.permutation(len(ids))]
    asked = []
    for lesson in chunk:
        meant = lesson.relevant if true_context else lesson.items
        likely = [item for item in meant if item.id in shown][:3]
        tools = _tools(lesson, mix, draw)
        text = asking_text(lesson.request, [item_name(item) for item in likely], tools)
        asked.append((text, str(lesson.plan)))
    return Pack(context_text([item_line(item) for item in items]), tuple(asked))


def _tools(lesson: PlannerExample, mix: MixSettings, draw: np.random.Generator) -> list[str]:
    way = draw.random()
    if way < mix.no_tools or not (lesson.apis or lesson.labelled):
        return []
    if way < mix.no_tools + mix.labelled_tools and lesson.labelled:
        apis = list(lesson.labelled)
    else:
        apis = list(lesson.apis[: mix.tools])
        if apis and not lesson.plan.is_none and lesson.plan.api not in apis and draw.random() < 0.9:
            apis = [*apis[:-1], lesson.plan.api]
    box = Toolbox.packaged()
    tools = [box.get(apis[place]) for place in draw.permutation(len(apis))]
    return [tool.signature for tool in tools if tool is not None]


def _renamed(pack: Pack, person: Person, other: Person) -> Pack:
    """The pack with its contacts' names replaced by another person's contacts', word by word."""
    pairs = [
        pair
        for mine, theirs in zip(person.contacts, other.contacts, strict=False)
        for pair in zip(mine.name.split(), theirs.name.split(), strict=False)
    ]
    table: dict[str, str] = {}
    for old, new in pairs:
        fits = len(old) > 3 and len(new) > 3 and old.istitle() and new.istitle()
        if fits and old not in table and new not in table.values():
            table[old] = new
    if not table:
        return pack
    known = re.compile(rf"\b(?:{'|'.join(map(re.escape, table))})\b")

    def exchanged(text: str) -> str:
        return known.sub(lambda found: table[found[0]], text)

    asked = tuple((exchanged(text), exchanged(plan)) for text, plan in pack.asked)
    return replace(pack, context=exchanged(pack.context), asked=asked)


def chat(pack: Pack, system: str) -> tuple[str, list[tuple[str, str]]]:
    """The pack in the chat markup that the planner is asked in: (shared text, requests)."""
    asked = [(closing(text), plan) for text, plan in pack.asked]
    return opening(system, pack.context), asked
