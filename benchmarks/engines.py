"""The planner's engines against each other: speed of reading and writing, plans, whole processes.

`python -m benchmarks.engines` prints these rows alone; `make bench` has them among the others.
"""

import os
import subprocess
import sys
import time
from functools import partial
from tempfile import TemporaryDirectory
from typing import get_args

from benchmarks.timing import Timing, timing
from ctrag.assistant.assistant import Assistant
from ctrag.assistant.planning.candidate_values import ValueSources
from ctrag.assistant.planning.embedded import EmbeddedPlanner
from ctrag.assistant.planning.grammar import plan_grammar
from ctrag.assistant.planning.interface import PlanRequest
from ctrag.assistant.planning.planner_prompt import planner_prompt
from ctrag.models.lm_engine import EngineName
from ctrag.settings import settings
from ctrag.toolbox import Toolbox
from stores.people.dataset import load_dataset, load_labels
from synth.reference import split_folder

PERSON = "p007"
PROMPTS = 12
READ = 300
WRITTEN = 40
_FIRST = f"""
from ctrag.assistant.assistant import Assistant
from synth.reference import split_folder
answer = Assistant.open(split_folder("dev"), "{PERSON}").ask("text them that I'm running late")
[step] = [one for one in answer.trace.steps if one.name == "planner.plan"]
print(step.outputs["engine"])
"""


def engine_rows() -> list[Timing]:
    """Rows of both engines, the reference last."""
    rows: list[Timing] = []
    plans: dict[str, list[str]] = {}
    for name in get_args(EngineName):
        rows += _speed(name)
        plans[name] = _plans(name)
        rows += _assistant(name)
    alike = [one == other for one, other in zip(*plans.values(), strict=True)]
    share = 100.0 * sum(alike) / len(alike)
    return [*rows, Timing("plans alike on both engines", len(alike), share, share, "%")]


def _speed(name: EngineName) -> list[Timing]:
    planner = EmbeddedPlanner(threads=settings().threads, engine=name)
    began = time.perf_counter()
    engine = planner.engine
    opened = 1000 * (time.perf_counter() - began)
    prompt = (planner.encode("some words of a prompt that is read at once, and ") * READ)[:READ]
    reading, writing = [], []
    for _ in range(5):
        began = time.perf_counter()
        logits, cache = engine.forward(prompt)
        reading.append(READ / (time.perf_counter() - began))
        began = time.perf_counter()
        for _ in range(WRITTEN):
            logits, cache = engine.forward([int(logits[-1].argmax())], cache)
        writing.append(WRITTEN / (time.perf_counter() - began))
    return [
        Timing(f"{name}: open", 1, opened, opened),
        timing(f"{name}: read {READ} tokens", reading, "tok/s"),
        timing(f"{name}: write behind them", writing, "tok/s"),
    ]


def _plans(name: EngineName) -> list[str]:
    """Plans of dev requests that the model chooses under the grammar, API and values."""
    folder = split_folder("dev")
    dataset, labels, toolbox = load_dataset(folder), load_labels(folder), Toolbox.packaged()
    owner = dataset.persona(PERSON)
    planner = EmbeddedPlanner(threads=settings().threads, engine=name)
    asked = [
        one for one in dataset.requests if one.person_id == PERSON and labels[one.query_id].tools
    ]
    plans = []
    for one in asked[:PROMPTS]:
        label = labels[one.query_id]
        tools = [tool for api in label.tools or () if (tool := toolbox.get(api)) is not None]
        wanted = set(label.relevant or ())
        items = sorted(owner.items, key=lambda item: item.id not in wanted)[:3]
        grammar = plan_grammar(tools, ValueSources(one.request, owner.person, items))
        prompt = partial(
            planner_prompt, one.request, owner.person, items, tools, planner.count_tokens
        )
        plans.append(planner.plan(PlanRequest(tools, grammar, prompt)).text)
    return plans


def _assistant(name: EngineName) -> list[Timing]:
    """A process up to its first plan, and later plans in one process, free text written."""
    environment = {**os.environ, "CTRAG_PLANNER_ENGINE": name, "CTRAG_WRITE_TEXT": "true"}
    with TemporaryDirectory(prefix="ctrag-bench-") as home:
        environment["CTRAG_HOME"] = home
        command = [sys.executable, "-c", _FIRST]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        first = []
        for _ in range(3):
            began = time.perf_counter()
            subprocess.run(command, env=environment, check=True, capture_output=True)
            first.append(1000 * (time.perf_counter() - began))
        os.environ.update(CTRAG_PLANNER_ENGINE=name, CTRAG_WRITE_TEXT="true")
        settings.cache_clear()
        try:
            later = _later()
        finally:
            for variable in ("CTRAG_PLANNER_ENGINE", "CTRAG_WRITE_TEXT"):
                os.environ.pop(variable, None)
            settings.cache_clear()
    return [
        timing(f"{name}: process start to first plan", first),
        timing(f"{name}: later requests in which the model wrote", later),
    ]


def _later() -> list[float]:
    folder = split_folder("dev")
    assistant = Assistant.open(folder, PERSON)
    texts = list(dict.fromkeys(one.request.text for one in load_dataset(folder).requests))
    found: list[float] = []
    for text in texts[:200]:
        began = time.perf_counter()
        answer = assistant.ask(text)
        seconds = time.perf_counter() - began
        [step] = [one for one in answer.trace.steps if one.name == "planner.plan"]
        if step.outputs["engine"]:
            found.append(1000 * seconds)
        if len(found) == 20:
            break
    return found[1:] or found


def main() -> None:
    """Print the rows."""
    for row in engine_rows():
        print(f"{row.what:<60}  {row.runs:>5}  {row.p50:>9.2f}  {row.p95:>9.2f}  {row.unit}")


if __name__ == "__main__":
    main()
