"""Whose assistants can be opened, and those that are open."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from ctrag.errors import CtragError
from ctrag.text.terminal import note
from ctrag.web.talk import Talk

if TYPE_CHECKING:
    from ctrag.assistant.artefacts import Artefacts
    from ctrag.assistant.assistant import Assistant
    from ctrag.assistant.planning.interface import Planner
    from ctrag.assistant.planning.slot_filler import SlotFiller
    from ctrag.models.encoder import Encoder


class OpenAssistant(Protocol):
    """Opens the assistant of a person of a stores or data set folder."""

    def __call__(self, folder: Path, person: str) -> "Assistant":
        """The assistant; errors as `Assistant.open`."""
        ...


@dataclass(frozen=True, slots=True)
class Known:
    """A person who can be opened."""

    id: str
    name: str
    about: str = ""
    """A few words: age, profession, city."""


@dataclass(frozen=True, slots=True)
class Starter:
    """A request to begin with, and when and where it is said."""

    text: str
    at: str = ""
    """ISO 8601; the person's present when empty."""
    place: str = ""
    playing: str = ""


@dataclass(frozen=True, slots=True)
class Circle:
    """People of one folder."""

    title: str
    about: str
    folder: Path
    """A stores folder or a data set folder."""
    people: Callable[[], Sequence[Known]]
    starters: Callable[[str], Sequence[Starter]] = lambda person: ()
    own: bool = False
    """Whether they are the user's own stores: files can be imported, people forgotten."""


@dataclass(slots=True)
class Opening:
    """An assistant that is being opened, or is open."""

    circle: Circle
    person: str
    state: Literal["opening", "open", "failed"] = "opening"
    talk: Talk | None = None
    why: str = ""
    """Why it failed."""


@dataclass
class People:
    """The people of some circles, and the conversations that are open.

    Args:
        circles: In the order in which they are shown.
        open_assistant: Opens one person's assistant; slow, in a thread of its own.
    """

    circles: Sequence[Circle]
    open_assistant: OpenAssistant
    _open: dict[str, Opening] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _models: threading.Semaphore = field(default_factory=threading.Semaphore)
    """Held while models work: they serve one request at a time."""

    def circle_of(self, person: str) -> Circle | None:
        """The first circle that has a person of that id."""
        for circle in self.circles:
            if any(one.id == person for one in circle.people()):
                return circle
        return None

    def known(self, person: str) -> Known | None:
        """What is known of a person."""
        circle = self.circle_of(person)
        people = () if circle is None else circle.people()
        return next((one for one in people if one.id == person), None)

    def opening(self, person: str) -> Opening | None:
        """The person's assistant, being opened from now on where it is not; None for nobody."""
        with self._lock:
            found = self._open.get(person)
            if found is not None:
                return found
            circle = self.circle_of(person)
            if circle is None:
                return None
            made = self._open[person] = Opening(circle, person)
        threading.Thread(target=self._work, args=(made,), name="open", daemon=True).start()
        return made

    def close(self, person: str | None = None) -> None:
        """Close one person's conversation, or all: whatever they ask is declined."""
        with self._lock:
            closed = [one for one in self._open if person in (None, one)]
            openings = [self._open.pop(one) for one in closed]
        for one in openings:
            if one.talk is not None:
                one.talk.close()

    def _work(self, opening: Opening) -> None:
        try:
            with self._models:
                assistant = self.open_assistant(opening.circle.folder, opening.person)
                assistant.view()
            opening.talk = Talk(assistant, models=self._models)
            opening.state = "open"
        except (CtragError, OSError) as error:
            opening.why, opening.state = str(error), "failed"
        except Exception as error:  # a defect costs this person, not the server
            opening.why = f"Something is wrong in ctrag: {type(error).__name__}: {error}"
            opening.state = "failed"
            note(opening.why)


class SharedModels:
    """Opens assistants that share one encoder, one planner and one slot filler."""

    def __init__(self, planner: str = "embedded") -> None:
        self._name = planner
        self._lock = threading.Lock()
        self._loaded: tuple[Encoder, Artefacts, Planner, SlotFiller | None] | None = None

    def warm(self) -> None:
        """Load everything now, so that the first request need not wait for it."""
        encoder, _, _, slots = self._models()
        encoder.encode(["warm"])
        if slots is not None:
            slots.bound(slots.encode("warm"), 'start: "a"', until=None)

    def __call__(self, folder: Path, person: str) -> "Assistant":
        """The assistant of a person of a data set or stores folder; errors as `Assistant.open`."""
        from ctrag.assistant.assistant import Assistant
        from ctrag.assistant.open import open_stores
        from ctrag.settings import settings

        encoder, artefacts, planner, slots = self._models()
        opened = open_stores(folder, person, encoder)
        return Assistant(
            opened.stores,
            person,
            encoder=encoder,
            artefacts=artefacts,
            planner=planner,
            slots=slots,
            toolbox=opened.toolbox,
            options=settings(),
            frozen_clock=opened.frozen_clock,
        )

    def _models(self) -> "tuple[Encoder, Artefacts, Planner, SlotFiller | None]":
        from ctrag.assistant.artefacts import load_artefacts
        from ctrag.assistant.planning.planner import make_planner, slot_filler
        from ctrag.extras import need
        from ctrag.models.encoder import load_encoder
        from ctrag.settings import settings

        with self._lock:
            if self._loaded is None:
                need("the assistant", "torch", "transformers", "lightgbm", "llguidance")
                options = settings()
                self._loaded = (
                    load_encoder(options.encoder),
                    load_artefacts(options.artefacts),
                    make_planner(self._name, options),
                    slot_filler(options) if self._name == "embedded" else None,
                )
        return self._loaded
