"""Claims about relevant items that a ranking leaves below its first K."""

import numpy as np
import pytest

from ctrag.assistant.context.item_text import title
from eval.context.misses import misses
from eval.core.examples import RankingExample
from stores.people.dataset import DatasetRequest, Persona
from stores.people.items import Labels, Request
from tests.assistant.context.conftest import ADA, ASKED, context_of, view_of

IDS = [item.id for item in ADA.items]


def example(*relevant: str, request: Request = ASKED, kind: str | None = None) -> RankingExample:
    wanted = np.array([item in relevant for item in IDS], dtype=np.float32)
    asked = DatasetRequest("q1", "ada", request)
    return RankingExample(asked, context_of(request), Labels(relevant=relevant, kind=kind), wanted)


def missed(one: RankingExample, order: list[str], k: int) -> list[tuple[object, object, object]]:
    """Title, rank and circumstance of what is missed when these items come first."""
    ranked = [*order, *(item for item in IDS if item not in order)]
    scores = np.array([-float(ranked.index(item)) for item in IDS])
    rows = misses([one], lambda _: scores, k=k)
    return [(row["missing"], row["rank"], row["circumstance"]) for row in rows]


@pytest.mark.parametrize(
    ("rank", "wanted"),
    [(2, []), (3, ["just missed (rank 3 to 4)"]), (4, ["just missed (rank 3 to 4)"])],
)
def test_an_item_at_rank_k_is_found_and_up_to_twice_k_just_missed(
    rank: int, wanted: list[str]
) -> None:
    order = ["m1", "m2", "c2", "c3"]
    order.insert(rank - 1, "c1")
    found = missed(example("c1"), order, 2)
    assert found == [("calendar: Dentist", rank, one) for one in wanted]


def test_behind_another_relevant_item_that_was_found_is_said_first() -> None:
    found = missed(example("c1", "r2"), ["c1", "m1", "r2"], 2)
    assert found == [("reminders: Call the dentist", 3, "the other item was found")]
    found = missed(example("c1", "r2"), ["m1", "m2", "c1", "r2"], 2)
    assert {one for _, _, one in found} == {"just missed (rank 3 to 4)"}


def test_far_below_words_and_meaning_say_why() -> None:
    """Of the dentist axis are c1, r2 and, with the bus, g1; nothing else is closer than p2."""
    others = [item for item in IDS if item not in ("c1", "p2")]
    [(_, rank, why)] = missed(example("c1"), others, 2)
    assert (rank, why) == (19, "other items preferred")
    # Three items are closer in meaning than p2, which shares no word: far for k = 1, not for 2.
    assert missed(example("p2"), others[:2], 1)[0][2] == "no shared word, far in meaning"
    assert missed(example("p2"), others, 2)[0][2] == "other items preferred"


def test_twice_k_items_that_are_closer_are_far() -> None:
    """Without g1, c1 and r2 alone are closer in meaning than p2: two, for k = 1."""
    kept = tuple(item for item in ADA.items if item.id != "g1")
    context = context_of(view=view_of(Persona(ADA.person, kept)))
    wanted = np.array([item.id == "p2" for item in kept], dtype=np.float32)
    one = RankingExample(
        DatasetRequest("q1", "ada", ASKED), context, Labels(relevant=("p2",)), wanted
    )
    [row] = misses([one], lambda _: 1 - wanted, k=1)
    assert (row["rank"], row["circumstance"]) == (len(kept), "no shared word, far in meaning")


def test_rows_say_what_stood_first_and_are_sorted_by_kind_and_circumstance() -> None:
    one, other = example("c1", kind="spoken"), example("m2")
    scores = np.array([-float(place) for place in range(len(IDS))])
    rows = misses([one, other], lambda _: scores, k=1)
    assert [(row["kind"], row["circumstance"]) for row in rows] == [
        ("spoken", "other items preferred"),
        ("unlabelled", "just missed (rank 2 to 2)"),
    ]
    assert {row["first"] for row in rows} == {f"mail: {title(ADA.items[0])}"}
    assert {(row["query_id"], row["request"]) for row in rows} == {("q1", ASKED.text)}
