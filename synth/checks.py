"""Validation of generated requests: the text, the labels, the plan, and repeats.

A plan is run on a copy of the person's items in memory; nothing is stored or sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ctrag.assistant.apps.call import Call, Refusal
from ctrag.assistant.apps.execute import effect_of
from ctrag.assistant.apps.lookup import plain_words
from ctrag.assistant.apps.registry import APIS
from ctrag.assistant.planning.plan import Plan, check
from ctrag.text.words import terms
from ctrag.toolbox import Toolbox
from stores.people.app_spec import spec_of
from stores.people.dataset import Persona
from stores.people.items import Item
from synth.provider import LabelledRequest, Talk

_SHORT_TITLE = 2
"""A shorter title may occur by chance ("Keys")."""
_TOOLS = 3
_CONTACT_ENOUGH = frozenset({"call_contact", "send_mail"})
"""APIs that need a contact and no item."""
_LONGEST_WORDS = 40
_HASHES = 4


def request_faults(persona: Persona, labelled: LabelledRequest, toolbox: Toolbox) -> list[str]:
    """The faults of a generated request, each prefixed with its category; [] if there are none.

    Args:
        persona: The person who asks, with all items.
        labelled: The request with its labels.
        toolbox: The available APIs.
    """
    by_id = {item.id: item for item in persona.items}
    missing = [one for one in labelled.labels.relevant or () if one not in by_id]
    if missing:
        return [f"labels: relevant: {missing[0]!r} is no item of the person"]
    relevant = [by_id[one] for one in labelled.labels.relevant or ()]
    return [
        *_label_faults(labelled, toolbox),
        *_text_faults(labelled, relevant),
        *_plan_faults(persona, labelled, relevant, toolbox),
    ]


def _label_faults(labelled: LabelledRequest, toolbox: Toolbox) -> list[str]:
    labels = labelled.labels
    tools = labels.tools or ()
    unknown = [api for api in tools if toolbox.get(api) is None]
    if unknown:
        return [f"labels: tools: there is no API {unknown[0]!r}"]
    if len(set(tools)) < len(tools) or len(tools) > _TOOLS:
        return [f"labels: tools: must be at most {_TOOLS} different APIs, not {list(tools)}"]
    if (labels.plan is None) != (tools == ()):
        return ["labels: a plan needs tools, and tools need a plan"]
    if labels.plan is not None and labels.plan.api != tools[0]:
        return [f"labels: the plan calls {labels.plan.api}, the best tool is {tools[0]}"]
    needs = labels.kind not in ("explicit", "no_tool") and not (
        labelled.level == "tell" and labels.plan and labels.plan.api in _CONTACT_ENOUGH
    )
    if needs and not labels.relevant:
        return ["labels: relevant: a request that leaves something out needs an item"]
    return []


def _text_faults(labelled: LabelledRequest, relevant: Sequence[Item]) -> list[str]:
    """A request that leaves a title to be found must not contain it."""
    text, kind = labelled.request.text, labelled.labels.kind
    if not text.strip() or len(text.split()) > _LONGEST_WORDS or "{" in text:
        return ["text: must be one short sentence without gaps"]
    if kind in ("explicit", "no_tool") or labelled.level in ("ask", "tell"):
        return []
    titles = [title for item in relevant for title in _titles(item)]
    padded = f" {' '.join(plain_words(text))} "
    for title in titles:
        words = plain_words(title)
        if len(words) >= _SHORT_TITLE and f" {' '.join(words)} " in padded:
            return [f"names: the text names {title!r}, which it should leave to be found"]
    if kind == "mismatch" and len(relevant) == 1:
        words_of_title = {word for title in titles for word in terms(title)}
        shared = words_of_title & set(terms(text))
        if len(words_of_title) > 1 and len(shared) >= len(words_of_title) - (len(shared) == 1):
            return [f"names: the text has the words {sorted(shared)} of what it should paraphrase"]
    return []


def _plan_faults(
    persona: Persona, labelled: LabelledRequest, relevant: Sequence[Item], toolbox: Toolbox
) -> list[str]:
    """The plan must match its schema, run, and act on the items labelled as relevant."""
    if labelled.labels.plan is None:
        return []
    plan = Plan(labelled.labels.plan.api, dict(labelled.labels.plan.arguments))
    tool = toolbox.get(plan.api)
    if tool is not None and tool.does is None and plan.api not in APIS:
        # Nothing here can run it, so only its schema is checked.
        return [f"plan: {problem}" for problem in check(plan, toolbox)]
    call = Call(
        api=plan.api,
        arguments=plan.arguments,
        person=persona.person,
        items=persona.items,
        at=labelled.request.asked_at,
        playing=labelled.request.playing,
        preferred=labelled.labels.relevant or (),
    )
    try:
        _, effect = effect_of(plan, call, toolbox)
    except Refusal as refusal:
        return [f"plan: {plan} does not run: {refusal}"]
    touched = {item.id for item in effect.items}
    if effect.change is not None:
        touched |= {*effect.change.remove, *(one.item.id for one in effect.change.put)}
    own = touched & {item.id for item in persona.items}
    if relevant and own and not own & {item.id for item in relevant}:
        return [f"plan: {plan} touches other items than the relevant ones"]
    return []


def talk_faults(persona: Persona, talk: Talk, toolbox: Toolbox) -> list[str]:
    """The faults of a request for several calls or of a dialogue, as `request_faults`.

    The calls run one after the other, each on what those before it left.
    """
    if talk.text and len(talk.text.split()) > _LONGEST_WORDS:
        return ["text: must be one short sentence without gaps"]
    if not talk.text and len({one.request.text.casefold() for one in talk.parts}) < len(talk.parts):
        return ["repeat: two turns of a dialogue are the same"]
    items = {item.id: item for item in persona.items}
    for one in talk.parts:
        plan = one.labels.plan
        if plan is None:
            continue
        missing = [wanted for wanted in one.labels.relevant or () if wanted not in items]
        if missing:
            return [f"labels: relevant: {missing[0]!r} is no item of the person any more"]
        call = Call(
            api=plan.api,
            arguments=plan.arguments,
            person=persona.person,
            items=tuple(items.values()),
            at=one.request.asked_at,
            playing=one.request.playing,
            preferred=one.labels.relevant or (),
        )
        try:
            _, effect = effect_of(Plan(plan.api, dict(plan.arguments)), call, toolbox)
        except Refusal as refusal:
            return [f"plan: {plan.api} does not run: {refusal}"]
        if effect.change is not None:
            for gone in effect.change.remove:
                items.pop(gone, None)
            items |= {stored.item.id: stored.item for stored in effect.change.put}
    return []


def _titles(item: Item) -> list[str]:
    return [item.text(name) for name in spec_of(item.app).named("title")]


def normal_text(text: str) -> str:
    """A request's text without case, accents and punctuation, for detecting repeats."""
    return " ".join(plain_words(text))


@dataclass(slots=True)
class SeenTexts:
    """The texts seen so far, in constant memory (a Bloom filter).

    At five million texts, one new text in thousands is mistaken for a repeat; a repeat is never
    mistaken for new.
    """

    bits: bytearray

    def __init__(self, size_bytes: int = 1 << 24) -> None:
        self.bits = bytearray(size_bytes)

    def add(self, text: str) -> bool:
        """Add a text; False if it was already there."""
        digest = blake2b(normal_text(text).encode(), digest_size=8 * _HASHES).digest()
        new = False
        for number in range(_HASHES):
            place = int.from_bytes(digest[8 * number : 8 * number + 8], "big")
            byte, bit = divmod(place % (8 * len(self.bits)), 8)
            new = new or not self.bits[byte] >> bit & 1
            self.bits[byte] |= 1 << bit
        return new
