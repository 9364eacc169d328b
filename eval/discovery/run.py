"""Tool discovery: tokens, latency and recall (tables 1 and 2 of the tool-discovery paper)."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import JsonValue

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.agents.search.ranker import tool_ranker
from ctrag.agents.search.surfacing import surfacing_rule
from ctrag.agents.session.tokens import tool_tokens
from ctrag.errors import InputError
from ctrag.models.encoder import load_encoder
from ctrag.models.vector_cache import CachedEncoder
from ctrag.settings import cache_folder, settings
from ctrag.text.words import terms
from eval.core.experiment import Experiment, data_sha256, versions
from eval.core.intervals import bootstrap_interval
from eval.core.ranking import evaluate_run
from eval.core.tables import Table, figure
from eval.discovery.data import (
    POOLED,
    Benchmark,
    Need,
    read_any,
)
from eval.discovery.given import given_to_agents
from eval.discovery.scale import latency_by_size
from eval.discovery.sessions import SEARCH_TOOLS, episodes_from, packaged_episodes, session_profile
from stores.tools.protocol import Filter, Query

SIZES = (10, 25, 50, 100, 200, 500, 1000, 2000, 4000)
KS = (1, 5)
METHODS = ("hybrid", "lexical", "dense_alone", "bm25_alone", "rrf")
_DEPTH = 10
_SAMPLED = 20
"""Requests whose found tools are counted in tokens at each size."""
_FLOOR = 200
"""Requests that are also asked with the tools they need taken out."""
_FLOORS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
_TIMED = 100
_PAPER = {10: 57, 25: 80, 50: 89, 100: 93, 200: 96}
_SEED = 0


@dataclass(frozen=True, slots=True)
class _Asked:
    """The requests of one data folder under one index."""

    index: ToolIndex
    encoder: CachedEncoder
    benchmark: Benchmark


def run_discovery(
    data: Path,
    *,
    methods: Sequence[str] | None = None,
    limit: int | None = None,
    large: int | None = None,
    foreign: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Experiment:
    """Tokens by catalogue size, latency and recall of tool search.

    Args:
        data: A folder with `tools.json` and `queries.jsonl`, a data set of people (its requests
            ask the toolbox), or one of the names in `POOLED`.
        methods: Names from `METHODS`; all when None.
        limit: Only the first so many requests.
        large: Also time catalogues up to this size; tools beyond the data's own are synthetic.
        foreign: Such data whose requests the catalogue does not answer, beside those of its own.
        progress: Called with progress messages.

    Raises:
        ValueError: A method is unknown, or the data breaks a rule.
    """
    began = time.perf_counter()
    for name in methods or ():
        if name not in METHODS:
            raise InputError(f"--methods: {name!r} is unknown; known: {', '.join(METHODS)}")
    benchmark = read_any(data)
    fitted_on = tool_ranker().card.get("data", {})
    fitted = data.name in fitted_on
    kept = [one for one in benchmark.needs if not fitted or one.held_out]
    needs = [one for one in kept if one.tools][:limit]
    hopeless = [one.text for one in kept if not one.tools][:limit]
    if not needs:
        raise InputError(f"{data}: no request that nothing was fitted on")
    plain = load_encoder(settings().tool_encoder)
    encoder = CachedEncoder(plain, cache_folder(), keep_requests=True)
    progress(f"indexing {len(benchmark.tools)} tools")
    asked = _Asked(ToolIndex(benchmark.tools, encoder), encoder, Benchmark(benchmark.tools, needs))
    wanted = [one for one in METHODS if methods is None or one in methods or one == "hybrid"]
    progress(f"asking {len(needs)} requests")
    recall, intervals = _recall(asked, wanted)
    progress("giving")
    given = given_to_agents(asked.index, needs, [*hopeless, *_foreign(foreign)])
    progress("timing")
    timed = [one.text for one in needs[:: max(1, len(needs) // _TIMED)]][:_TIMED]
    sizes = [one for one in (100, 1000, 4000, 100_000) if one <= (large or 0)]
    latency = latency_by_size(benchmark.tools, timed, CachedEncoder(plain, cache_folder()), sizes)
    progress("counting tokens")
    figures: dict[str, JsonValue] = {
        "tokens": _tokens(benchmark.tools, needs),
        "latency_ms": latency.pop("own"),
        "recall": recall["hybrid"],
    }
    extra: dict[str, JsonValue] = {
        "methods": recall,
        "given": given,
        "requests": len(needs),
        "tools": len(benchmark.tools),
        "tools_needed": round(fmean(len(one.tools) for one in needs), 2),
        "held_out_half_only": fitted,
        "latency_by_size": latency,
        "floor": _floor(asked),
        "sessions": _sessions(asked),
        "ranker": tool_ranker().card,
    }
    options: dict[str, JsonValue] = {
        "encoder": plain.name,
        "limit": limit,
        "large": large,
        "foreign": None if foreign is None else str(foreign),
        "k": 5,
    }
    return Experiment(
        experiment="discovery",
        data=str(data),
        data_sha256=None if str(data) in POOLED else data_sha256(data),
        seed=_SEED,
        versions=versions(),
        settings=options,
        figures=figures,
        intervals=intervals,
        extra=extra,
        seconds=round(time.perf_counter() - began, 2),
    )


def _recall(asked: _Asked, methods: Sequence[str]) -> tuple[dict[str, Any], dict[str, JsonValue]]:
    runs: dict[str, dict[str, list[str]]] = {name: {} for name in methods}
    for need in asked.benchmark.needs:
        for name, ranking in _rankings(asked, need, methods).items():
            runs[name][need.query_id] = need.as_needed(ranking)
    labels = {one.query_id: set(one.tools) for one in asked.benchmark.needs}
    figures: dict[str, Any] = {}
    intervals: dict[str, JsonValue] = {}
    for name, run in runs.items():
        scores = evaluate_run(run, labels, ks=KS, measures=("recall",))
        figures[name] = {key: round(value, 2) for key, value in scores.figures.items()}
        if name == "hybrid":
            bounds: dict[str, JsonValue] = {}
            for key, values in scores.per_query.items():
                found = bootstrap_interval(list(values.values()), list(values), seed=_SEED)
                bounds[key] = None if found is None else [round(found.low, 2), round(found.high, 2)]
            intervals["recall"] = bounds
    return figures, intervals


def _rankings(asked: _Asked, need: Need, methods: Sequence[str]) -> dict[str, list[str]]:
    index = asked.index
    found: dict[str, list[str]] = {}
    if "hybrid" in methods:
        found["hybrid"] = [hit.tool.id for hit in index.search(need.text, _DEPTH)]
    if "lexical" in methods:
        found["lexical"] = [hit.tool.id for hit in index.search(need.text, _DEPTH, mode="lexical")]
    alone = {"dense_alone", "bm25_alone", "rrf"} & set(methods)
    if alone:
        vector = asked.encoder.encode([need.text])[0]
        query = Query(list(dict.fromkeys(terms(need.text))), vector)
        candidates = index.store.candidates([query], Filter(), 60).found
        dense = sorted(candidates, key=lambda one: (-one.cosine, one.position))
        words = [one for one in candidates if one.lexical > 0]
        words.sort(key=lambda one: (-one.lexical, one.position))
        fused: dict[str, float] = {}
        for ranking in (dense[:60], words[:60]):
            for rank, one in enumerate(ranking, 1):
                fused[one.tool_id] = fused.get(one.tool_id, 0.0) + 1 / (60 + rank)
        found["dense_alone"] = [one.tool_id for one in dense[:_DEPTH]]
        found["bm25_alone"] = [one.tool_id for one in words[:_DEPTH]]
        found["rrf"] = sorted(fused, key=lambda one: -fused[one])[:_DEPTH]
    return {name: ranking for name, ranking in found.items() if name in methods}


def _tokens(tools: Sequence[CatalogueTool], needs: Sequence[Need]) -> dict[str, JsonValue]:
    """Table 1: all definitions against the meta-tool and five found tools; characters / 4."""
    chance = random.Random(_SEED)
    table: dict[str, JsonValue] = {}
    for size in [one for one in SIZES if one <= len(tools)]:
        some = chance.sample(list(tools), size)
        index = ToolIndex(some, lexical_only=True)
        texts = [one.text for one in chance.sample(list(needs), min(_SAMPLED, len(needs)))]
        found = [sum(tool_tokens(hit.tool) for hit in index.search(text)) for text in texts]
        static = sum(tool_tokens(tool) for tool in some)
        dynamic = tool_tokens(SEARCH_TOOLS) + fmean(found)
        table[str(size)] = {
            "static": static,
            "dynamic": round(dynamic),
            "reduction": round(100 * (1 - dynamic / static), 1),
        }
    return table


def _floor(asked: _Asked) -> dict[str, JsonValue]:
    """How often it is said that nothing surely fits: wrongly, and rightly when the needed tools are
    missing; by the packaged rule, and by other floors."""
    needs = asked.benchmark.needs
    some = needs[:: max(1, len(needs) // _FLOOR)][:_FLOOR]
    kept = [asked.index.find(one.text).certainty for one in some]
    gone = [asked.index.find(one.text, exclude=one.serving).certainty for one in some]

    def rejections(least: float) -> dict[str, JsonValue]:
        return {
            "wrongly_rejected": round(100 * fmean(one < least for one in kept), 1),
            "rejected_without_needed_tools": round(100 * fmean(one < least for one in gone), 1),
        }

    curve: list[JsonValue] = [{"floor": one, **rejections(one)} for one in _FLOORS]
    return {**rejections(surfacing_rule().doubt), "requests": len(some), "curve": curve}


def _foreign(data: Path | None) -> list[str]:
    """Some requests of other data, evenly spread."""
    if data is None:
        return []
    needs = read_any(data).needs
    return [one.text for one in needs[:: max(1, len(needs) // _FLOOR)][:_FLOOR]]


def _sessions(asked: _Asked) -> JsonValue:
    """Section 11.3 and 11.4 over scripted sessions: the packaged ones on the assistant's tools,
    one per request elsewhere."""
    index: Any = asked.index  # its hits are frozen, which the protocol of sessions does not say
    known = {tool.id for tool in asked.benchmark.tools}
    packaged = packaged_episodes()
    if all(known.issuperset(turn.tools) for one in packaged for turn in one.turns):
        return session_profile(index, packaged)
    needs = asked.benchmark.needs[:_SAMPLED]
    rows = [(one.query_id, one.text, sorted(one.tools)) for one in needs]
    return session_profile(index, episodes_from(rows))


def table(experiment: Experiment) -> Table:
    """Recall of every method, with tokens and latency below."""
    methods: Any = experiment.extra["methods"]
    rows = [[name, *(figure(found[f"recall@{k}"]) for k in KS)] for name, found in methods.items()]
    tokens: Any = experiment.figures["tokens"]
    latency: Any = experiment.figures["latency_ms"]
    by_size: Any = experiment.extra["latency_by_size"]
    busy, tiers = by_size["own_cpu"], by_size["tiers_cpu"]
    sessions: Any = experiment.extra["sessions"]
    floor: Any = experiment.extra["floor"]
    half = ", the half that nothing was fitted on" * bool(experiment.extra["held_out_half_only"])
    notes = [
        *_of_given(experiment.extra["given"]),
        f"{experiment.extra['requests']} requests, {experiment.extra['tools']} tools{half}",
        *(
            f"{size} tools: {one['static']} tokens static, {one['dynamic']} dynamic, "
            f"{one['reduction']} % saved"
            + (f" (the paper: {_PAPER[int(size)]})" if int(size) in _PAPER else "")
            for size, one in tokens.items()
        ),
        "ms: " + ", ".join(f"{name} {value}" for name, value in latency.items()),
        "ms of one thread's work: "
        + ", ".join(f"{name} {value}" for name, value in busy.items() if name != "beyond_encoding")
        + f"; hybrid beyond encoding {busy['beyond_encoding']['p50']}",
        *(
            f"{size} tools ({one['synthetic_tools']} synthetic), the same, p50 / p95: lexical "
            f"{_of_two(one['lexical_cpu'])}, hybrid beyond encoding "
            f"{_of_two(one['hybrid_beyond_encoding_cpu'])}"
            for size, one in by_size.items()
            if size.isdigit()
        ),
        "the same, median and 95th percentile of a tier alone: expert "
        f"{_of_two(tiers['expert'])}, system {_of_two(tiers['system'])} ({tiers['tools']} tools)",
        *_of_sessions(sessions),
        f"nothing surely fits: said of {floor['wrongly_rejected']} % of requests wrongly, of "
        f"{floor['rejected_without_needed_tools']} % when the needed tools are taken out",
        "at other floors (wrongly / without the needed tools): "
        + ", ".join(
            f"{one['floor']}: {one['wrongly_rejected']} / {one['rejected_without_needed_tools']}"
            for one in floor["curve"]
        ),
    ]
    return Table(["method", *(f"Recall@{k}" for k in KS)], rows, notes)


def _of_given(given: Any) -> list[str]:
    """What agents are given, in two lines."""
    lines = [
        f"given to the agent: Recall@5 {given['recall@5']} (found {given['found@5']}), "
        f"{given['tools']} tools a search; nothing {given['nothing']} %, with a note of doubt "
        f"{given['doubt']} %"
    ]
    if (of := given["hopeless"]) is not None:
        lines.append(
            f"{of['requests']} requests that nothing answers: nothing {of['nothing']} %, with a "
            f"note of doubt {of['doubt']} %, {of['tools']} tools a search"
        )
    return lines


def _of_two(values: Mapping[str, float]) -> str:
    return f"{values['p50']} / {values['p95']}"


def _of_sessions(sessions: Mapping[str, Any]) -> list[str]:
    return [
        f"sessions with {k} results a search ({sessions['episodes']} of {sessions['turns']} turns "
        f"in all): {one['discovery_accuracy']['mean']} % of found tools used (median "
        f"{one['discovery_accuracy']['median']}), {one['needed_reached']['mean']} % of needed ones "
        f"reached, {one['searches']['mean']} searches, {one['tokens_at_the_end']} tokens at the "
        f"end against {sessions['static_tokens']}"
        for k, one in sessions["by_results"].items()
    ]
