"""The interface for making people and requests, offline or by a language model.

A provider makes one person at a time, so that memory does not grow with the data set, any number
of workers can share the job, and a stopped run resumes with the next person. The same arguments
always give the same answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ctrag.errors import BudgetSpent as BudgetSpent
from ctrag.errors import ProviderError as ProviderError
from stores.people.dataset import Kind, Persona
from stores.people.items import Labels, Request

Level = Literal["ask", "tell", "new", "cannot", "oblique", ""]
"""How a request is made: a plain question, an order that an item or contact completes, one in which
everything is said, what no API can do, one that only hints; empty where that is not known."""


@dataclass(frozen=True, slots=True)
class LabelledRequest:
    """A request with its labels: what a careful assistant would do."""

    request: Request
    labels: Labels
    level: Level = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """Several calls in one breath, or a dialogue: single requests in the order of their calls."""

    text: str
    """What is said in one breath; empty for a dialogue, whose turns are the parts' texts."""
    parts: tuple[LabelledRequest, ...]


class Provider(Protocol):
    """Makes people with their items, and their requests."""

    @property
    def workers(self) -> int:
        """How many calls may run at once in threads of one process; 1 when threads do not help."""
        ...

    def person(self, person_id: str, counts: Mapping[str, int], seed: int) -> Persona:
        """A new person with that id.

        Args:
            person_id: The person's id and the prefix of every item id,
                `<person_id>-<app>-<number>`.
            counts: Application → approximate number of items.
            seed: Different seeds give different people.

        Raises:
            BudgetSpent: A paid provider has reached its limit.
            ProviderError: No answer could be obtained.
        """
        ...

    def requests(
        self, persona: Persona, kinds: Sequence[Kind], seed: int, avoid: Sequence[str] = ()
    ) -> list[LabelledRequest]:
        """Requests of a person, one for each entry of `kinds`, with all labels.

        They are unchecked and may be fewer than asked for, in the order of `kinds`.

        Args:
            persona: Any person with items, also from another provider or data set.
            kinds: The wanted kinds; a kind may occur several times.
            seed: Different seeds give different requests.
            avoid: Texts that must not be repeated.

        Raises:
            BudgetSpent: A paid provider has reached its limit.
            ProviderError: No answer could be obtained.
        """
        ...

    def talks(self, persona: Persona, several: int, dialogues: int, seed: int) -> list[Talk]:
        """Requests for several calls, then dialogues; fewer or none where they cannot be made."""
        ...
