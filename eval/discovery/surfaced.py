"""One table for many catalogues: what the search finds, and what of it an agent is given."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.ranker import tool_ranker
from ctrag.agents.search.surfacing import surfacing_rule
from ctrag.errors import InputError
from ctrag.models.encoder import load_encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder, settings
from eval.core.experiment import Experiment, versions
from eval.core.tables import Table, figure
from eval.discovery.data import Benchmark, Need, read_any
from eval.discovery.given import given_to_agents

SETS = (
    Path("bfcl-live"),
    Path("bfcl"),
    Path("data/tools/real-servers"),
    Path("data/tools/openapi"),
    Path("data/tools/test"),
)
"""What is asked where nothing is named: all sets of a checkout."""
FOREIGN = Path("data/tools/test")
FOREIGN_REQUESTS = 200


def run_surfaced(
    sets: Sequence[Path] = SETS,
    *,
    foreign: Path | None = FOREIGN,
    limit: int | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Experiment:
    """Found and given, by set.

    Args:
        sets: See `read_any`. Of data that something was fitted on, the held-out half is asked.
        foreign: Data whose requests the other sets do not answer; None asks none.
        limit: Only so many requests of each set, evenly spread.
        progress: Called with progress messages.

    Raises:
        ValueError: There is no set, or a set has no request that may be asked.
    """
    if not sets:
        raise InputError("--data: at least one set is needed")
    began = time.perf_counter()
    encoder = CachedEncoder(load_encoder(settings().tool_encoder), cache_folder())
    strangers = [] if foreign is None else _spread(_asked(foreign).needs, FOREIGN_REQUESTS)
    figures: dict[str, JsonValue] = {}
    for data in sets:
        asked = _asked(data)
        needs = [one for one in asked.needs if one.tools]
        if limit is not None:
            needs = _spread(needs, limit)
        if not needs:
            raise InputError(f"{data}: no request that nothing was fitted on")
        own = [one.text for one in asked.needs if not one.tools]
        others = [one.text for one in strangers] if data != foreign else []
        progress(f"{data.name}: {len(needs)} requests, {len(asked.tools)} tools")
        index = ToolIndex(asked.tools, encoder)
        figures[str(data)] = {
            "requests": len(needs),
            "tools": len(asked.tools),
            "given": given_to_agents(index, needs, [*own, *others]),
        }
    return Experiment(
        experiment="surfaced",
        data=", ".join(map(str, sets)),
        data_sha256=None,
        seed=0,
        versions=versions(),
        settings={
            "encoder": encoder.name,
            "limit": limit,
            "foreign": None if foreign is None else str(foreign),
        },
        figures=figures,
        intervals={},
        extra={"rule": surfacing_rule().card, "ranker": tool_ranker().card},
        seconds=round(time.perf_counter() - began, 2),
    )


def _asked(data: Path) -> Benchmark:
    """A set with the requests that neither ranker nor rule was fitted on."""
    read = read_any(data)
    fitted = {*tool_ranker().card.get("data", {}), *surfacing_rule().card.get("data", {})}
    if data.name not in fitted:
        return read
    return Benchmark(read.tools, [one for one in read.needs if one.held_out])


def _spread(needs: Sequence[Need], count: int) -> list[Need]:
    return list(needs[:: max(1, len(needs) // count)][:count])


def table(experiment: Experiment) -> Table:
    """A row for each set."""
    rows = []
    for name, one in experiment.figures.items():
        found: Any = one
        given = found["given"]
        hopeless = given["hopeless"]
        rows.append(
            [
                name,
                str(found["requests"]),
                str(found["tools"]),
                figure(given["found@5"]),
                figure(given["recall@5"]),
                f"{given['tools']:.2f}",
                figure(given["said"]),
                figure(given["without_needed"]["said"]),
                "-" if hopeless is None else figure(hopeless["said"]),
                "-" if hopeless is None else figure(hopeless["nothing"]),
            ]
        )
    heads = ["set", "requests", "tools", "found@5", "given@5", "a search", "doubt", "without"]
    return Table(
        [*heads, "hopeless", "nothing"],
        rows,
        [
            "a search: tools that it gives. Per cent of searches that give nothing or a note of "
            "doubt: doubt, where a tool serves; without, when these are taken out; hopeless, of "
            "requests that nothing serves (nothing: of these, how many give no tool)",
        ],
    )
