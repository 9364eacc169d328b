"""Trained artefacts: the packaged ones, or a folder that `ctrag train` wrote."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from ctrag.assistant.api_choice.classifier import WEIGHTS as CLASSIFIER
from ctrag.assistant.api_choice.classifier import ApiClassifier
from ctrag.assistant.context.item_ranker import CARD as RANKER
from ctrag.assistant.context.item_ranker import Ranker
from ctrag.assistant.conversation.breaks import CARD as BREAKS
from ctrag.assistant.planning.call_choice import CARD as CALLS
from ctrag.assistant.planning.call_choice import CallChoice
from ctrag.assistant.planning.confidence import CARD as CONFIDENCE
from ctrag.assistant.planning.confidence import Confidence
from ctrag.assistant.planning.plainness import CARD as PLAINNESS
from ctrag.assistant.planning.plainness import Plainness
from ctrag.assistant.planning.said import CARD as SAID
from ctrag.assistant.planning.said import SaidChoice
from ctrag.assistant.planning.value_ranker import MODEL as ARGUMENTS
from ctrag.assistant.planning.value_ranker import ValueRanker
from ctrag.errors import NotFound
from ctrag.models.request_adapter import WEIGHTS as ADAPTER
from ctrag.models.request_adapter import Adapter
from stores.compressed import kept


@dataclass(frozen=True, slots=True)
class Artefacts:
    """The trained models that belong to one encoder."""

    ranker: Ranker
    adapter: Adapter | None
    """None for a ranker that was trained without one."""
    classifier: ApiClassifier
    arguments: ValueRanker
    confidence: Confidence
    choice: SaidChoice
    calls: CallChoice
    plainness: Plainness


def load_artefacts(folder: Path | None) -> Artefacts:
    """The artefacts of `folder`, or the packaged ones when None, which are read once per process.

    A part that the folder lacks is the packaged one; the adapter belongs to the ranker, and a
    ranker that was trained without one gets none. `Breaks.in_use` reads the breaks between requests
    from the folder that `CTRAG_ARTEFACTS` names.

    Raises:
        FileNotFoundError: The folder holds nothing that `ctrag train` writes.
        ValueError: A part was trained on other inputs than this version computes.
    """
    return _packaged() if folder is None else _loaded(folder)


@cache
def _packaged() -> Artefacts:
    return _loaded(None)


def _loaded(folder: Path | None) -> Artefacts:
    ranker, adapter = load_context_artefacts(folder)
    own = _own(folder)
    at = Path() if folder is None else folder
    return Artefacts(
        ranker=ranker,
        adapter=adapter,
        classifier=ApiClassifier.load(at) if CLASSIFIER in own else ApiClassifier.packaged(),
        arguments=ValueRanker.load(at) if ARGUMENTS in own else ValueRanker.packaged(),
        choice=SaidChoice.load(at) if SAID in own else SaidChoice.packaged(),
        calls=CallChoice.load(at) if CALLS in own else CallChoice.packaged(),
        plainness=Plainness.load(at) if PLAINNESS in own else Plainness.packaged(),
        confidence=Confidence.load(at) if CONFIDENCE in own else Confidence.packaged(),
    )


def load_context_artefacts(folder: Path | None) -> tuple[Ranker, Adapter | None]:
    """What context retrieval alone needs: all that exists when the API classifier is trained.

    Raises:
        FileNotFoundError, ValueError: As `load_artefacts`.
    """
    if folder is None or RANKER not in _own(folder):
        return _packaged_context()
    adapter = Adapter.load(folder) if (folder / ADAPTER).exists() else None
    return Ranker.load(folder), adapter


@cache
def _packaged_context() -> tuple[Ranker, Adapter]:
    packaged = Path(str(files("ctrag.assistant.context").joinpath("artefact")))
    return Ranker.packaged(), Adapter.load(packaged)


def _own(folder: Path | None) -> set[str]:
    """Parts that the folder holds."""
    if folder is None:
        return set()
    parts = (RANKER, CLASSIFIER, ARGUMENTS, SAID, CALLS, PLAINNESS, CONFIDENCE, BREAKS)
    own = {name for name in parts if kept(folder / name).exists()}
    if not own:
        raise NotFound(
            f"{folder}: holds none of {', '.join(parts)}; give a folder that `ctrag train` wrote"
        )
    return own
