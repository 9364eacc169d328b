"""What requests are made from: a person, what they call their items, and a way to speak."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from ctrag.assistant.apps.lookup import plain_words
from stores.people.app_spec import spec_of
from stores.people.dataset import Kind, Persona
from stores.people.items import Contact, Item, LabelledPlan, Labels, Request
from synth.offline.acquaintances import Acquaintance
from synth.offline.calls import Arguments, also_right, tools_for
from synth.offline.countries import country_of
from synth.offline.moments import Moment
from synth.offline.people import Told
from synth.offline.thoughts import thought
from synth.offline.trades import read_data
from synth.offline.usage import Places
from synth.offline.wording import Word, Words
from synth.offline.written import requests_of
from synth.provider import LabelledRequest, Level

_INTERRUPTED = 0.12
"""How often a written hint is said in the middle of something else."""
_SHORTENED = 0.8
"""How often a title with a comma is said only up to it."""
_DAYS = 3
"""Requests are made within so many days after the person's now."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An item with what its owner may say about it."""

    item: Item
    spec: Mapping[str, Any]
    words: Words
    moment: datetime | None = None
    """When what the item is about takes place."""
    beside: Mapping[str, Item] = field(default_factory=dict)
    """Items of the same matter by their names in it."""

    def texts(self, name: str) -> list[str]:
        """A list of the specification."""
        raw = self.spec.get(name) or []
        return [one for one in raw.split(" / ") if one] if isinstance(raw, str) else list(raw)


@dataclass(slots=True)
class Asking:
    """One person's requests in the making."""

    persona: Persona
    entries: list[Entry]
    words: Words
    draw: random.Random
    places: Places
    spoken: Mapping[str, tuple[str, ...]]
    """Name of a contact → what the person says for them."""
    months: bool = False
    clock: int = 24
    written: tuple[tuple[Request, Labels], ...] = ()
    """Hints that somebody wrote about this person's items."""
    _style: float = field(init=False)

    def __post_init__(self) -> None:
        self._style = random.Random(self.persona.person.profile.name).random()

    @property
    def now(self) -> datetime:
        """The person's now."""
        return self.persona.person.now

    def of(self, app: str) -> list[Entry]:
        """The entries of an application, in random order."""
        found = [one for one in self.entries if one.item.app == app]
        self.draw.shuffle(found)
        return found

    def contacts(self) -> list[Contact]:
        """The contacts in random order."""
        found = list(self.persona.person.contacts)
        self.draw.shuffle(found)
        return found

    def who(self, contact: Contact) -> str:
        """What the person says for a contact."""
        return self.draw.choice(self.spoken.get(contact.name) or (contact.name,))

    def soon(self, before: datetime | None = None) -> datetime | None:
        """A time in waking hours within three days, before another if one is given."""
        last = self.now + timedelta(days=_DAYS, minutes=-5)
        if before is not None:
            last = min(last, before - timedelta(minutes=25))
        if last <= self.now:
            return None
        span = int((last - self.now).total_seconds() // 60)
        for _ in range(12):
            moment = self.now + timedelta(minutes=int(span * self.draw.random() ** 1.4))
            if 7 <= moment.hour <= 22:
                return moment
        return self.now + timedelta(minutes=min(span, self.draw.randint(1, 9)))

    def later(self, asked: datetime, hours: tuple[int, int] = (8, 20)) -> Moment:
        """A new moment that a request names: later the same day or within five days."""
        for _ in range(20):
            day = asked + timedelta(days=self.draw.choice((0, 0, 1, 1, 1, 2, 3, 4, 5)))
            moment = day.replace(
                hour=self.draw.randint(*hours), minute=self.draw.choice((0, 0, 0, 15, 30, 30, 45))
            )
            if moment > asked + timedelta(minutes=50):
                return Moment(moment, self.clock, self.months)
        return Moment((asked + timedelta(days=1)).replace(hour=10, minute=0), self.clock)

    def called(self, entry: Entry) -> str:
        """What the owner calls the item."""
        if options := entry.texts("call"):
            return entry.words.text(self.draw.choice(options))
        names = {word for one in self.persona.person.contacts for word in one.name.split()}
        others = [one for one in self.persona.items if one.app == entry.item.app
                  and one.id != entry.item.id]  # fmt: skip
        return _derived(_shortened(entry.item, others, self.draw), names, self.draw)

    def made(
        self,
        text: str,
        asked: datetime,
        api: str,
        arguments: Arguments,
        relevant: Sequence[Item],
        *,
        kind: Kind,
        level: Level,
        playing: str | None = None,
        place: str | None = None,
    ) -> LabelledRequest:
        """The request with all its labels; no API where `api` is empty."""
        return LabelledRequest(
            Request(
                self.voiced(text, level), asked, place or self.places.at(asked) or "home", playing
            ),
            Labels(
                kind=kind,
                chain_of_thought=thought(
                    relevant, self.persona.person, asked, api or None, self.draw
                ),
                relevant=tuple(dict.fromkeys(item.id for item in relevant)),
                tools=tools_for(api) if api else (),
                plan=LabelledPlan(api, dict(arguments)) if api else None,
                also=also_right(api, arguments, relevant) if level != "oblique" else (),
            ),
            level,
        )

    def quoted(self, request: Request, labels: Labels, level: Level = "oblique") -> LabelledRequest:
        """A written request, with its chain of thought."""
        items = {one.id: one for one in self.persona.items}
        relevant = [items[one] for one in labels.relevant or ()]
        api = labels.plan.api if labels.plan else None
        told = thought(relevant, self.persona.person, request.asked_at, api, self.draw)
        if level == "oblique" and self.draw.random() < _INTERRUPTED:
            request = replace(request, text=self._with_aside(request.text, always=True))
        return LabelledRequest(request, replace(labels, chain_of_thought=told), level)

    def voiced(self, text: str, level: Level) -> str:
        """The text as this person speaks: a third in lower case without marks, some politely."""
        draw, style = self.draw, self._style
        text = text[:1].lower() + text[1:] if level == "oblique" and draw.random() < 0.9 else text
        if level == "oblique":
            return self._with_aside(text).rstrip(".")
        if draw.random() < 0.05 + 0.2 * (style > 0.75):
            text = draw.choice(("{}, please", "please {}", "{} please", "can you {}", "{}, thanks",
                                "could you {}", "{}, would you")).format(text) \
                if not text.endswith("?") and _orders(text) else text  # fmt: skip
        elif draw.random() < 0.09:
            text = draw.choice(("ok {}", "hey, {}", "um, {}", "so, {}", "right, {}", "oh and {}",
                                "hey {}")).format(text)  # fmt: skip
        if style < 0.36:
            return _plain(text)
        question = _asks(text)
        if style < 0.62:
            return text if draw.random() < 0.75 or not question else f"{text}?"
        end = "?" if question else "."
        text = text[:1].upper() + text[1:]
        return text if text[-1] in ".?!" else f"{text}{end}"

    def _with_aside(self, text: str, *, always: bool = False) -> str:
        """The text as it is said in the middle of something else, now and then."""
        draw, hour = self.draw, self.draw.choice(("seven", "eight", "nine", "ten"))
        chance = draw.uniform(0.7 if always else 0, 1)
        if chance < (0.7 if always else 0.85) or len(text.split()) > 13:
            return text
        asides: dict[str, str] = phrases("new")["asides"]  # type: ignore[assignment]
        words = self.words.with_values(
            {"hour": hour, "day": draw.choice(("Monday", "Tuesday", "Friday", "Sunday"))}
        )
        try:
            if chance < (0.84 if always else 0.92):
                before = words.text(draw.choice(asides["before"].split(" / ")))
                return f"{before}, {text}"
            return f"{text}, {words.text(draw.choice(asides['after'].split(' / ')))}"
        except KeyError:  # a life without a colleague or a workplace
            return text

    def moment(self, at: datetime) -> Moment:
        """A moment as this person's country writes it."""
        return Moment(at, self.clock, self.months)


_QUESTION = re.compile(
    r"^(?:(?:ok|hey|um|so|right|oh and),? )?"
    r"(what|when|where|who|how|which|is|are|am|do|does|did|have|has|will|any|anything|"
    r"something|until when|by when|may|whose|why)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^(move|shift|push|put|make|cancel|scrap|drop|take|tell|let|message|write|answer|reply|get|"
    r"forward|send|pass|flag|mark|star|keep|delete|bin|throw|add|share|give|tick|check|remind|ask|"
    r"postpone|snooze|remove|call|ring|phone|block|redial|dial|play|start|set|book|enter|note|"
    r"look|google|search|find|translate|show|read|open|list|compare|mail|pull|pause|skip|turn)\b",
    re.IGNORECASE,
)


def _asks(text: str) -> bool:
    return _QUESTION.match(text) is not None


def _orders(text: str) -> bool:
    return _ORDER.match(text) is not None


def _plain(text: str) -> str:
    """As speech is recognised: lower case, no marks but in times and words."""
    words = re.sub(r"[?!,;:\"]+(?= |$)|(?<= )['\"]|['\"](?= |$)|\.(?= |$)", "", text)
    return re.sub(r"\s+", " ", words).strip().lower() if words else text


def _shortened(item: Item, others: Sequence[Item], draw: random.Random) -> Item:
    """The item with its title's part before a comma, mostly, where no other can be meant."""
    fields = spec_of(item.app).named("title")
    if item.app not in ("calendar", "reminders") or not fields or draw.random() > _SHORTENED:
        return item
    head, comma, _ = item.text(fields[0]).partition(", ")
    words = set(plain_words(head))
    alike = any(words <= set(plain_words(one.text(fields[0]))) for one in others)
    if not comma or len(head.split()) < 2 or alike:
        return item
    return replace(item, fields={**item.fields, fields[0]: head})


def _derived(item: Item, names: set[str], draw: random.Random) -> str:
    """A name for an item of which nothing more is known: its title as one would say it."""
    fields = spec_of(item.app).named("title")
    title = item.text(fields[0]) if fields else item.text("contact")
    match item.app:
        case "mail":
            return f"{item.text('sender')}'s mail"
        case "notes":
            return f"the {title} note"
    first, _, rest = title.partition(" ")
    bare = first.strip(",.:").removesuffix("'s").removesuffix("’s")
    if bare in names or title[:2].isupper() or first.endswith(("'s", "’s")):
        return title
    lower = title[:1].lower() + title[1:]
    if item.app == "reminders" and first.lower() in _VERBS and rest:
        if rest.startswith(("the ", "my ")) and draw.random() < 0.6:
            return rest
        return f"the reminder to {lower}"
    ordered = item.app == "calendar" and first.lower() in _VERBS | _MEETINGS and rest
    articled = item.app in ("calendar", "reminders") and not lower.startswith(("the ", "my "))
    articled = articled and not ordered
    return f"the {lower}" if articled else lower


_VERBS = frozenset(
    "add answer ask back bake book bring buy call cancel change charge clean clear clip "
    "collimate copy count cut descale drench drive empty enter feed fetch fill finish fix "
    "frame glue hand hang hem invoice iron label learn leave lock look mark measure move oil "
    "order pack paint park pay pick polish post practice practise prepare print pump read "
    "register renew reorder repot return review ring rotate sand scan send sew sharpen shine "
    "sign sort sow split stretch swap take tell thank tick tidy tune turn update wash water "
    "wish wrap weigh collect soak warm decide rinse pull write borrow grease listen say throw save "
    "choose double find bleed get give show praise accept revise meet bless rehearse wipe argue "
    "reset delegate draw resend dig boil rebook peel confirm explain upload chop melt switch "
    "sterilise beg grab refill sing mend restring talk photocopy hone see".split()
)
_MEETINGS = frozenset(
    "teach hang build prune scan paint cook dig knit digitise stay introduce shoot record rescue "
    "name fold run help visit keep".split()
)
"""Further words with which the titles of events begin that say what is done there."""


def asking(told: Told, draw: random.Random) -> Asking:
    """The requests of somebody who was made here."""
    entries = [
        Entry(
            thing.item,
            thing.spec,
            matter.words.with_values({}),
            matter.moment,
            {key: other.item for key, other in matter.things.items()},
        )
        for matter, thing in told.things()
    ]
    for entry in entries:
        entry.words.draw = draw
    known = {item.id for item in (one.item for one in entries)}
    words = told.life.words.with_values({})
    words.draw = draw
    entries += [Entry(item, {}, words) for item in told.persona.items if item.id not in known]
    spoken = _unmistakable(list(told.life.circle.values()))
    country = told.life.country
    # Of its own randomness: the person is cached, and must not depend on what was asked before.
    places = Places(told.life.trade.hours, bool(told.life.profile.work), draw)
    return Asking(told.persona, entries, words, draw, places, spoken,
                  country.name == "United States", country.clock,
                  tuple(requests_of(told.scene, told.ids)))  # fmt: skip


def stranger(persona: Persona, draw: random.Random) -> Asking:
    """The requests of anybody with items: only what the items say is known."""
    profile = persona.person.profile
    city = (profile.city or "London").split(",")[0]
    values: dict[str, Word] = {
        "me": profile.name,
        "city": city,
        "district": city,
        "away": "Vienna",
        "food": profile.favorite_cuisine or "Italian",
        "film": (profile.favorite_movie_genre or "drama").lower(),
        "sport": (profile.favorite_sport or "football").lower(),
        "hobby": profile.hobbies[0] if profile.hobbies else "cards",
        "hgear": "a lamp",
        "money": "40 euros",
        "d4": str(draw.randint(1100, 9899)),
    }
    for key, contact in zip(("friend", "neighbour", "colleague", "boss"),
                            persona.person.contacts, strict=False):  # fmt: skip
        first = contact.name.split()[0]
        values[key] = Acquaintance(key, contact, first, "", "female", contact.name)
    words = Words(draw, values)
    entries = [Entry(item, {}, words, item.time("start")) for item in persona.items]
    spoken = {one.name: (one.name,) for one in persona.person.contacts}
    country = country_of(city)
    return Asking(persona, entries, words, draw, Places((9, 17), bool(profile.work), draw), spoken,
                  clock=country.clock if country else 24)  # fmt: skip


def _unmistakable(circle: Sequence[Acquaintance]) -> dict[str, tuple[str, ...]]:
    """Name of a contact → what can only mean them."""
    ways = {one.contact.name: one.spoken() for one in circle}
    return {
        name: tuple(
            way for way in some
            if all(way not in others for other, others in ways.items() if other != name)
        ) or (name,)
        for name, some in ways.items()
    }  # fmt: skip


@cache
def phrases(name: str) -> dict[str, list[str]]:
    """A file of phrases: `level api` or `kind api` → texts."""
    found: dict[str, list[str]] = read_data(f"{name}.yaml")
    return found
