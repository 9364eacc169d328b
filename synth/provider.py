"""What makes people and requests: the offline composer and the language model, one shape for both.

A provider makes one person at a time, so that memory does not grow with the data set, any number
of workers can share the job, and a run that is stopped goes on with the next person. The same
arguments give the same answer, whatever was made before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ctrag.errors import BudgetSpent as BudgetSpent
from ctrag.errors import ProviderError as ProviderError
from stores.people.dataset import Kind, Persona
from stores.people.items import Labels, Request


@dataclass(frozen=True, slots=True)
class LabelledRequest:
    """A request with what a careful assistant would do."""

    request: Request
    labels: Labels


class Provider(Protocol):
    """Makes people with their items, and the requests that they make."""

    @property
    def workers(self) -> int:
        """How many calls may run at once in threads of one process; 1 when threads gain nothing."""
        ...

    def person(self, person_id: str, counts: Mapping[str, int], seed: int) -> Persona:
        """A new person of that id.

        Args:
            person_id: Becomes the person's id and begins the id of every item,
                `<person_id>-<app>-<number>`.
            counts: Application → number of items, of about that size.
            seed: Decides who it is; two seeds give two different people.

        Raises:
            BudgetSpent: A paid provider has reached what it may spend.
            ProviderError: There is no answer to be had.
        """
        ...

    def requests(
        self, persona: Persona, kinds: Sequence[Kind], seed: int, avoid: Sequence[str] = ()
    ) -> list[LabelledRequest]:
        """Requests of a person, one of each wanted kind, with all labels.

        They are not checked yet and may be fewer than wanted, in the order of `kinds`.

        Args:
            persona: Who asks; any person with items, also of another provider or data set.
            kinds: The wanted kinds; a kind may stand there several times.
            seed: Two seeds give different requests.
            avoid: Texts that must not come again.

        Raises:
            BudgetSpent: A paid provider has reached what it may spend.
            ProviderError: There is no answer to be had.
        """
        ...
