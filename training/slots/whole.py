"""What the model learns to say whole: turns of dialogues, and requests for several calls.

A turn is learned behind the right calls of the turns before it, carried out on the person's
stores, so that the model sees what a conversation shows.
"""

import tempfile
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from ctrag.assistant.answer import in_words
from ctrag.assistant.apps.execute import execute
from ctrag.assistant.context.item_arrays import PersonView, encode_items, load_view
from ctrag.assistant.conversation.rewriting import (
    answer_of,
    rewritable_words,
    rewriting_prompt,
)
from ctrag.assistant.conversation.state import State
from ctrag.models.encoder import Matrix
from ctrag.text.false_starts import as_meant
from ctrag.toolbox import Toolbox
from eval.core.plans import labelled_plan
from stores.people.app_spec import apps_of
from stores.people.dataset import Persona, fingerprints, load_dataset
from stores.people.dialogues import Dialogue, load_dialogues, load_several
from stores.people.items import LabelledPlan, Request
from stores.people.stores import Stores
from training.slots.examples import written


@dataclass(frozen=True, slots=True)
class WholeExample:
    """What was said in a conversation, and how it is said whole."""

    prompt: str
    """Without the chat's markup."""
    answer: str


def whole_examples(
    folders: Sequence[Path],
    held_out: Container[str],
    progress: Callable[[str], None] = lambda _: None,
) -> list[WholeExample]:
    """The turns of dialogues and the requests for several calls of which a data set says how they
    are said whole; those that have other words than the model may write are left out.

    Args:
        folders: Data sets with `dialogues.jsonl` or `several.jsonl`.
        held_out: Fingerprints of people who are left out.
        progress: Called with a message per data set.
    """
    toolbox = Toolbox.packaged()
    found: list[WholeExample] = []
    for folder in folders:
        known = fingerprints(folder)
        personas = {one.person.person_id: one for one in load_dataset(folder).personas}
        dialogues = [
            one
            for one in load_dialogues(folder, personas)
            if known[one.person_id] not in held_out and any(turn.alone for turn in one.turns)
        ]
        several = [
            one
            for one in load_several(folder, personas)
            if known[one.person_id] not in held_out and one.alone
        ]
        needed = {one.person_id for one in dialogues} | {one.person_id for one in several}
        made: list[WholeExample | None] = []
        with _stores([personas[one] for one in sorted(needed)], folder) as stores:
            played = _Played(stores, toolbox)
            for dialogue in dialogues:
                made += played.turns(dialogue)
            for asked in several:
                view = played.view(asked.person_id)
                made.append(_example(asked.request.text, asked.alone, State(), view))
        kept = [one for one in made if one is not None]
        found += kept
        progress(f"{folder}: {len(kept)} turns said whole, {len(made) - len(kept)} left out")
    return found


class _NoVectors:
    """In place of an encoder: what is learned here are words."""

    name = "none"

    def encode(self, texts: Sequence[str]) -> Matrix:
        """See `Encoder.encode`."""
        return np.zeros((len(texts), 1), np.float32)


_ENCODER = _NoVectors()


@contextmanager
def _stores(personas: Sequence[Persona], data: Path) -> Iterator[Stores]:
    with tempfile.TemporaryDirectory() as folder:
        stores = Stores(Path(folder) / "stores", apps_of(data))
        stores.import_personas(
            personas, lambda owned: encode_items(_ENCODER, list(owned)), _ENCODER.name
        )
        yield stores


@dataclass(slots=True)
class _Played:
    """Carries out labelled calls on stores."""

    stores: Stores
    toolbox: Toolbox
    _seen: tuple[object, PersonView] | None = None

    def view(self, person_id: str) -> PersonView:
        """The person's items as they are now."""
        state = (person_id, self.stores.signature())
        if self._seen is None or self._seen[0] != state:
            self._seen = (state, load_view(self.stores, person_id, _ENCODER))
        return self._seen[1]

    def turns(self, dialogue: Dialogue) -> Iterator[WholeExample | None]:
        """An example of each turn; what its calls changed is taken back."""
        state = State()
        person_id = dialogue.person_id
        for turn in dialogue.turns:
            if turn.alone:
                yield _example(turn.text, turn.alone, state, self.view(person_id))
            self._carry_out(replace(dialogue.request, text=turn.text), turn.plan, person_id, state)
        while self.stores.changes(person_id):
            self.stores.undo(person_id)

    def _carry_out(
        self, request: Request, label: LabelledPlan | None, person_id: str, state: State
    ) -> None:
        plan = labelled_plan(label)
        answer = in_words(request, "")
        person = self.stores.person(person_id)
        if plan is not None:
            result = execute(
                plan,
                stores=self.stores,
                person=person,
                items=self.view(person_id).items,
                at=request.asked_at,
                toolbox=self.toolbox,
                encode=partial(encode_items, _ENCODER),
                confirm=lambda question: True,
                playing=request.playing,
                said=request.text,
            )
            answer = replace(answer, plan=plan, result=result)
        tool = self.toolbox.get(answer.plan.api)
        state.keep(answer, tool, self.view(person_id), person)


def _example(
    text: str, alone: Sequence[str], state: State, view: PersonView
) -> WholeExample | None:
    """None where the words of the texts are not those that the model may write."""
    said = as_meant(text)
    words = rewritable_words(said, state, view)
    if len(alone) == 1 and " ".join(alone[0].split()) == " ".join(text.split()):
        return WholeExample(rewriting_prompt(said, state, view), answer_of(said, [said]))
    whole = [written(as_meant(one), words) for one in alone]
    if any(one is None for one in whole):
        return None
    answer = answer_of(said, [one for one in whole if one is not None])
    return WholeExample(rewriting_prompt(said, state, view), answer)
