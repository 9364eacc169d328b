"""Claims about similar demonstrations: how they are weighed, and what they say comes next."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctrag.agents.next_tool import NextTool
from ctrag.agents.next_tool.memory import Memory
from ctrag.agents.next_tool.precedents import NOISE, WIDTH, Precedents

TOOLS = 5
CHAINS = st.lists(
    st.lists(st.integers(1, TOOLS - 1), min_size=1, max_size=4), min_size=1, max_size=6
)
FLIGHT = "Find a flight to Perth, book it and mail Zoe the ticket"


def of_chains(chains: list[list[int]]) -> Precedents:
    """Chains with weights 1, 2, 4, …, so that every sum says which ones it is made of."""
    calls = np.zeros((len(chains), max(map(len, chains)) + 1), dtype=np.int64)
    for place, chain in enumerate(chains):
        calls[place, : len(chain)] = chain
    lengths = np.array([len(chain) for chain in chains])
    return Precedents(2.0 ** np.arange(len(chains)), calls, lengths, TOOLS)


def sums(found: list[int | None]) -> list[float]:
    """Per tool the weights of the chains that name it."""
    return [sum(2.0**row for row, one in enumerate(found) if one == n) for n in range(TOOLS)]


def first_left(chain: list[int], history: list[int]) -> int:
    return next((call for call in chain if call not in history), 0)


def after(chain: list[int], history: list[int]) -> list[int] | None:
    """What the chain calls behind the last call of the history."""
    if not history:
        return chain
    if history[-1] not in chain:
        return None
    return chain[chain.index(history[-1]) + 1 :]


@settings(deadline=None)
@given(CHAINS, st.lists(st.integers(1, TOOLS - 1), max_size=5))
def test_each_sum_is_that_of_the_chains_one_by_one(
    chains: list[list[int]], history: list[int]
) -> None:
    near = of_chains(chains)
    place = len(history)
    beginning = [
        (chain[place] if place < len(chain) else 0) if chain[:place] == history else None
        for chain in chains
    ]
    behind = [after(chain, history) for chain in chains]
    following = [None if one is None else (one[0] if one else 0) for one in behind]
    left = [first_left(chain, history) for chain in chains]
    left_behind = [None if one is None else first_left(one, history) for one in behind]
    assert near.same_beginning(history).tolist() == sums(beginning)
    assert near.after_last(history).tolist() == sums(following)
    assert near.left(history).tolist() == sums(left)
    assert near.left_after_last(history).tolist() == sums(left_behind)


@settings(deadline=None)
@given(CHAINS)
def test_a_chain_counts_once_for_a_tool_that_it_calls_twice(chains: list[list[int]]) -> None:
    wanted = [sum(2.0**row for row, chain in enumerate(chains) if n in chain) for n in range(TOOLS)]
    assert of_chains(chains).anywhere().tolist() == wanted


def test_weights_solve_the_kernel_equations(next_tool: NextTool) -> None:
    memory = next_tool.memory
    likeness = memory.likeness(FLIGHT, next_tool.encoder.encode([FLIGHT])[0])
    near = Precedents.near(memory, likeness, most=len(memory))
    rows = np.arange(len(memory))
    between = np.stack(
        [memory.likeness(memory.demonstrations[row].text, memory.vectors[row]) for row in rows]
    )[:, rows]
    kernel = np.exp(WIDTH * (between - 1)) + NOISE * np.eye(len(rows))
    expected = np.linalg.solve(kernel, np.exp(WIDTH * (likeness[rows] - 1)))
    assert near.weights == pytest.approx(expected, abs=1e-4)


def test_the_likeliest_next_tool_of_similar_requests_is_the_demonstrated_one(
    next_tool: NextTool,
) -> None:
    memory = next_tool.memory
    likeness = memory.likeness(FLIGHT, next_tool.encoder.encode([FLIGHT])[0])
    near = Precedents.near(memory, likeness)
    history = memory.known(["search_flight", "book_flight"])
    for found in (
        near.same_beginning(history),
        near.after_last(history),
        near.left(history),
        near.left_after_last(history),
    ):
        assert memory.names[int(found.argmax())] == "find_contact"


def test_without_demonstrations_nothing_is_said(next_tool: NextTool) -> None:
    known = next_tool.memory
    empty = Memory(known.names, known.inputs, known.graphs.centroids)
    near = Precedents.near(empty, np.zeros(0))
    for found in (near.anywhere(), near.same_beginning([1]), near.after_last([]), near.left([1])):
        assert found.tolist() == [0.0] * len(known.names)
