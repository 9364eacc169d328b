"""Running a plan on a person's stores: check, effect, question, change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from ctrag.assistant.apps import own
from ctrag.assistant.apps.call import Call, Effect, Refusal
from ctrag.assistant.apps.lookup import (
    digits,
    is_number,
    mail_address,
    one_line,
)
from ctrag.assistant.apps.registry import APIS, STATES
from ctrag.assistant.planning.plan import Plan, check
from ctrag.text.language import is_english
from ctrag.toolbox import Tool, Toolbox
from stores.people.changes import Change, ChangeRecord
from stores.people.item_rows import StoredItem
from stores.people.items import Item, Person
from stores.people.stores import Encode, Stores

_ABOUT = {
    "google": "the web",
    "phonecall": "phone calls",
    "calendar": "your calendar",
    "notes": "your notes",
    "mail": "your mail",
    "reminders": "your reminders",
}
"""What the packaged applications are called in an answer; others go by their name."""

Confirm = Callable[[str], bool]
"""Shows a question (a `Question`) to the person; True when they agree."""


class Question(str):
    """What a person is asked before an effect: what exactly, and to which addresses.

    Whoever agrees beforehand, as `--yes` does, should agree only to what is `expected`.
    """

    sure: bool = True
    """Whether the plan is surely what was meant."""
    doubt: str = ""
    """Why it may not be, as the question begins."""
    strangers: tuple[str, ...] = ()
    """Recipients that are not among the person's contacts, as the question names them."""

    @classmethod
    def about(cls, text: str, *, doubt: str, strangers: Sequence[str]) -> "Question":
        """A question with what is known of the effect, after what makes it doubtful."""
        made = cls(f"{doubt} {text}".strip())
        made.sure, made.doubt, made.strangers = not doubt, doubt, tuple(strangers)
        return made

    @property
    def expected(self) -> bool:
        """Whether the plan is sure and reaches nobody but contacts."""
        return self.sure and not self.strangers


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a plan."""

    status: Literal["done", "refused", "declined", "nothing"]
    """`declined`: the person said no. `nothing`: the plan was `none()`."""
    answer: str
    items: tuple[Item, ...] = ()
    change: ChangeRecord | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What running a plan would do."""

    text: str
    """The question before a change, the answer of a look-up, or why the plan is refused."""
    changes: bool = False
    """Whether anything would be written or leave the phone."""


def effect_of(plan: Plan, call: Call, toolbox: Toolbox) -> tuple[Tool, Effect]:
    """What the plan would answer and change; nothing is written.

    Raises:
        Refusal: The plan breaks the API's schema, or its `fails_when` holds.
    """
    problems = check(plan, toolbox)
    if problems:
        raise Refusal("; ".join(problems))
    tool = toolbox.get(plan.api)
    if tool is None or (tool.does is None and plan.api not in APIS):
        raise Refusal(f"no application here can run {plan.api}")
    try:
        return tool, own.run(tool, call) if tool.does is not None else APIS[plan.api](call)
    except OverflowError:  # an item of the year 9999
        raise Refusal("That leads beyond the end of the calendar, so nothing was done.") from None


def execute(
    plan: Plan,
    *,
    stores: Stores,
    person: Person,
    items: Sequence[Item],
    at: datetime,
    toolbox: Toolbox | None = None,
    encode: Encode | None = None,
    confirm: Confirm = lambda question: False,
    playing: str | None = None,
    preferred: Sequence[str] = (),
    online: bool = True,
    doubt: str = "",
    said: str = "",
) -> Result:
    """Run a plan on the person's stores.

    Args:
        plan: What to do.
        stores: Where the person's items are; the change is one transaction in one store.
        person: Whose plan it is.
        items: All items of the person.
        at: When the person asked.
        toolbox: The APIs, the packaged ones when None; a plan that breaks a schema is refused.
        encode: Computes vectors of new or changed items; when None, with the encoder of the
            stores' other vectors, or of the settings.
        confirm: Asked, with a `Question`, before every effect that leaves the phone or plays
            sound, with the exact text and recipients, also where `toolbox` does not declare it
            outward. Says no by default.
        playing: Id of the song that is playing.
        preferred: Ids of the retrieved items, best first.
        online: False refuses whatever needs a network.
        doubt: Why this may not be what was meant; with it, changes of the person's own items
            need confirmation too.
        said: The person's words: whether they mean one occurrence or a whole series.

    Raises:
        StoreUnavailable: The store is locked for too long, missing or damaged.
    """
    toolbox = Toolbox.packaged() if toolbox is None else toolbox
    if plan.is_none:
        return Result("nothing", nothing_fits(toolbox, said))
    call = _call(plan, toolbox, stores, person, items, at, playing, preferred, online, said)
    try:
        tool, effect = effect_of(plan, call, toolbox)
    except Refusal as refusal:
        return Result("refused", str(refusal))
    asks = _reaches_out(tool, effect) or (bool(doubt) and effect.change is not None)
    asked = Question.about(question(plan, effect), doubt=doubt, strangers=strangers(effect, person))
    if asks and not confirm(asked):
        return Result("declined", "Nothing was done.", effect.items)
    record = None
    if effect.change is not None:
        change = _with_vectors(effect.change, person, encode or _encoder_of(stores))
        record = stores.apply(person.person_id, tool.app, change, at)
    return Result("done", effect.answer, effect.items, record)


def preview(
    plan: Plan,
    *,
    stores: Stores,
    person: Person,
    items: Sequence[Item],
    at: datetime,
    toolbox: Toolbox | None = None,
    playing: str | None = None,
    preferred: Sequence[str] = (),
    online: bool = True,
    said: str = "",
) -> Preview:
    """What `execute` would do with these arguments; nothing is written."""
    toolbox = Toolbox.packaged() if toolbox is None else toolbox
    if plan.is_none:
        return Preview(nothing_fits(toolbox, said))
    call = _call(plan, toolbox, stores, person, items, at, playing, preferred, online, said)
    try:
        _, effect = effect_of(plan, call, toolbox)
    except Refusal as refusal:
        return Preview(str(refusal))
    if effect.change is None:
        return Preview(effect.answer)
    return Preview(question(plan, effect), changes=True)


def question(plan: Plan, effect: Effect) -> str:
    """What the person is asked before an effect: what exactly, and to which addresses."""
    return effect.question or f"{plan}?"


def strangers(effect: Effect, person: Person) -> list[str]:
    """The recipients of an effect whose address or number is none of a contact's."""
    reached = [
        one_line(address)
        for one in person.contacts
        for address in (one.phone, one.email, mail_address(one.email))
        if address and address.strip()
    ]
    phones = {digits(one.phone).lstrip("0") for one in person.contacts if one.phone} - {""}
    return [
        one
        for one in effect.recipients
        if one not in reached
        and not _ends_in(one, reached)
        and not (is_number(one) and digits(one).lstrip("0") in phones)
    ]


def _ends_in(recipient: str, reached: Sequence[str]) -> bool:
    """Whether a recipient is a name and one of these addresses, `Omar <omar@example.mx>`.

    What is really reached stands last, whatever a sender's name pretends; but several addresses in
    one are several recipients, and what can be dialled is reached as a whole: the end of
    "+7900(112)" is no contact's 112.
    """
    if is_number(recipient):
        return False
    for one in reached:
        for end in (f"<{one}>", f"({one})"):
            if recipient.endswith(end):
                before = recipient.removesuffix(end)
                return "@" not in before.replace(one, "")
    return False


def _reaches_out(tool: Tool, effect: Effect) -> bool:
    """Whether an effect leaves the phone or plays sound, whatever a data set's toolbox says."""
    packaged = Toolbox.packaged().get(tool.api) if tool.does is None else None
    declared = {tool.effect, packaged.effect if packaged is not None else tool.effect}
    return "outward" in declared or bool(effect.recipients)


def nothing_fits(toolbox: Toolbox, said: str = "") -> str:
    """The answer to a request that no API can do, with what could be asked for instead.

    Args:
        toolbox: What can be done.
        said: The request; English is asked for where it is in another language.
    """
    apps = [_ABOUT.get(app, app) for app in toolbox.apps]
    about = " and ".join([", ".join(apps[:-1]), apps[-1]] if len(apps) > 1 else apps)
    english = "" if said and is_english(said) else " in English"
    return (
        f"No application here can do that. Ask{english} for something about {about}: "
        "“remind me to water the plants at six”."
    )


def _call(
    plan: Plan,
    toolbox: Toolbox,
    stores: Stores,
    person: Person,
    items: Sequence[Item],
    at: datetime,
    playing: str | None,
    preferred: Sequence[str],
    online: bool,
    said: str,
) -> Call:
    return Call(
        api=plan.api,
        arguments=plan.arguments,
        person=person,
        items=items,
        at=at,
        playing=playing,
        preferred=preferred,
        states=_states(toolbox.get(plan.api), stores, person),
        online=online,
        said=said,
        new_id=lambda app: _new_id(person, app, items),
    )


def _states(tool: Tool | None, stores: Stores, person: Person) -> dict[str, object]:
    """State that an API needs besides items."""
    if tool is None:
        return {}
    needed = STATES.get(tool.api, ())
    return {name: stores.state(person.person_id, tool.app, name) for name in needed}


def _encoder_of(stores: Stores) -> Encode:
    from ctrag.assistant.context.item_arrays import encode_items
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings

    encoder = load_encoder(stores.encoder or settings().encoder)
    return lambda owned: encode_items(encoder, owned)


def _with_vectors(change: Change, person: Person, encode: Encode) -> Change:
    if not change.put:
        return change
    vectors = encode([(person, stored.item) for stored in change.put])
    return replace(
        change,
        put=[StoredItem(one.item, vector) for one, vector in zip(change.put, vectors, strict=True)],
    )


def _new_id(person: Person, app: str, items: Sequence[Item]) -> str:
    taken = {item.id for item in items}
    number = 1
    while f"{person.person_id}-{app}-{number}" in taken:
        number += 1
    return f"{person.person_id}-{app}-{number}"
