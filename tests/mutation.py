"""Small faults planted by seed in the code that computes figures: do its tests see them?

`python -m tests.mutation --count 200 --out mutants.json` draws mutants of the modules that compute
figures and runs the test files nearest to each. No file is changed: every mutant runs in a
forked process whose import of one module gives the mutated code. `--again mutants.json` runs only
those that were alive. A mutant that changes no figure is listed in `EQUIVALENT` with the reason.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.abc
import importlib.metadata
import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.mutants import ROOT, Mutant, mutants_of, named, source

PACKAGES = ("stores", "ctrag", "synth", "eval", "training", "tests")
SCORING = (
    "core.plans core.ranking core.intervals core.calibration core.grounded context.misses "
    "planner.rows instructions.name_choice instructions.figures synth.texts dependency.figures "
    "dependency.steps discovery.run discovery.scale discovery.sessions calls.run calls.cases"
).split()
"""Names of modules in `eval`."""
WARM = (
    "duckdb",
    "hypothesis.strategies",
    "ir_measures",
    "lightgbm",
    "onnxruntime",
    "scipy.stats",
    "torch",
)
"""Imported once, before processes fork."""
EQUIVALENT = {
    "synth.texts synthetic_auc: 0 in [0] → -1": "a label of the other class by another name",
    "synth.texts _auc: 400 in max_iter=400 → 399": "converged long before",
    "synth.texts _auc: 400 in max_iter=400 → 401": "converged long before",
    "core.intervals _resampled_means: max(1, _CELLS_AT_ONCE // people) → "
    "min(1, _CELLS_AT_ONCE // people)": "the same draws, one at a time",
    "instructions.figures cross_validated_gate: np.zeros(len(folds), dtype=bool) → "
    "np.ones(len(folds), dtype=bool)": "every entry is overwritten",
    "instructions.name_choice ways_of: 0 in names[0] → -1": "no name begins with another: all end, or none",
    "calls.cases drawn: limit >= len(cases) → limit > len(cases)": "drawing all keeps all, in order",
    "calls.cases _queries: 0 in row.calls[0] → -1": "there is one call",
    "planner.rows PlannerInputs.__call__: np.zeros(0, np.float32) → np.ones(0, np.float32)": "no "
    "entry in either",
    "discovery.run run_discovery: 2 in round(time.perf_counter() - began, 2) → 3": "time",
    "discovery.run run_discovery: 2 in round(time.perf_counter() - began, 2) → 1": "time",
    "discovery.run run_discovery: True in keep_requests=True → False": "kept to be encoded once",
    "discovery.run _rankings: 0.0 in fused.get(one.tool_id, 0.0) → -1.0": "every share is 1 less",
    "discovery.run _rankings: 0.0 in fused.get(one.tool_id, 0.0) → 1.0": "every share is 1 more",
    "discovery.scale : 10000 in _AT_ONCE = 10000 → 10001": "synthetic tools are made in parts; they are timed",
    "discovery.scale : 10000 in _AT_ONCE = 10000 → 9999": "synthetic tools are made in parts; they are timed",
}
"""Mutant (module in `eval`, function, before → after) → why no figure changes."""


def imports(path: Path) -> set[str]:
    """Modules of ours that a file imports, inside its functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        found |= {n for n in names if n.split(".")[0] in PACKAGES and source(n).is_file()}
    return found


def nearest_tests(modules: Sequence[str], most: int) -> dict[str, list[Path]]:
    """Test files by module: those that import it, then those that import what imports it."""
    importers: dict[str, set[str]] = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for name in imports(path):
                importers.setdefault(name, set()).add(named(path))
    found = {}
    for module in modules:
        distance, queue = {module: 0}, deque([module])
        while queue:
            one = queue.popleft()
            for other in sorted(importers.get(one, set()) - distance.keys()):
                distance[other] = distance[one] + 1
                queue.append(other)
        tests = [name for name in distance if name.rpartition(".")[2].startswith("test_")]
        first = min((distance[name] for name in tests), default=0)
        own = f"test_{module.rpartition('.')[2]}"
        tests.sort(key=lambda name: (distance[name], not name.endswith(own), name))
        near = [name for name in tests if distance[name] <= max(2, first)][:most]
        found[module] = [source(name) for name in near]
    return found


class _Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module mutated code."""

    def __init__(self, module: str, tree: ast.Module) -> None:
        self.module, self.tree = module, tree

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        """The mutated module's; None for others."""
        if name != self.module:
            return None
        return importlib.util.spec_from_file_location(name, source(name), loader=self)

    def exec_module(self, module: object) -> None:
        """Run the mutated code in the module."""
        exec(compile(self.tree, str(source(self.module)), "exec"), vars(module))


class _Failures:
    """A pytest plugin that writes down which tests fail."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def pytest_runtest_logreport(self, report: object) -> None:
        if getattr(report, "failed", False):
            self.ids.append(getattr(report, "nodeid", ""))


def _forked(work: Callable[[], int], out: Path) -> int:
    """The id of a process that ends with what `work` returns; its output goes to a file."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        with out.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os._exit(work())
    except BaseException:
        traceback.print_exc()
        os._exit(99)


def _tested(
    files: Sequence[Path], skipped: Sequence[str], folder: Path, failures: Path | None = None
) -> int:
    import pytest

    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(folder / "hypothesis")
    for number, file in enumerate(files):
        plugin = _Failures()
        code = pytest.main(
            [str(file), "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist"]
            + [f"--basetemp={folder / str(number)}", *(["-x"] if failures is None else [])]
            + ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
            + [f"--deselect={one}" for one in skipped],
            plugins=[plugin],
        )
        if failures is not None:
            failures.write_text("\n".join(plugin.ids), encoding="utf-8")
        if code not in (0, 5):
            return 1
    return 0


def _run_all(
    tasks: Sequence[tuple[Callable[[Path], int], float]], jobs: int, told: Callable[..., None]
) -> list[tuple[int | None, float]]:
    """(exit code or None when out of time, seconds) of each task, in its order."""
    results: list[tuple[int | None, float]] = [(None, 0.0)] * len(tasks)
    waiting, running = deque(enumerate(tasks)), {}
    with tempfile.TemporaryDirectory() as temporary:
        while waiting or running:
            while waiting and len(running) < jobs:
                number, (work, limit) = waiting.popleft()
                folder = Path(temporary, str(number))
                folder.mkdir()
                child = _forked(lambda work=work, folder=folder: work(folder), folder / "out")  # type: ignore[misc]
                running[child] = (number, time.monotonic(), limit)
            for child, (number, began, limit) in list(running.items()):
                ended, status = os.waitpid(child, os.WNOHANG)
                taken = time.monotonic() - began
                if not ended and taken > limit:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                elif not ended:
                    continue
                if ended and os.waitstatus_to_exitcode(status) == 99:
                    raise RuntimeError((Path(temporary, str(number)) / "out").read_text())
                results[number] = (os.waitstatus_to_exitcode(status) if ended else None, taken)
                del running[child]
                told(number, *results[number])
            time.sleep(0.02)
    return results


def main() -> None:
    """Draw, run and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="mutants; drawn evenly by module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--modules", nargs="*", default=SCORING, help="names in eval")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--files", type=int, default=6, help="test files a module at most")
    parser.add_argument("--slowest", type=float, default=40, help="leave slower test files out (s)")
    parser.add_argument("--again", type=Path, help="only what was alive in this result")
    parser.add_argument("--out", type=Path, help="JSON")
    options = parser.parse_args()
    os.environ.update({"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})
    os.chdir(ROOT)
    modules = []
    for name in options.modules:
        if not source(f"eval.{name}").is_file():
            parser.error(f"--modules: eval has no module {name!r}")
        modules.append(f"eval.{name}")
    if options.again:
        rows = json.loads(options.again.read_text(encoding="utf-8"))["mutants"]
        alive = {row["key"] for row in rows if row["state"] == "alive"}
        chosen = [one for name in modules for one in mutants_of(name)[0] if one.key in alive]
    else:
        draw, chosen = random.Random(options.seed), []
        pools = [mutants_of(module)[0] for module in modules]
        for pool in pools:
            draw.shuffle(pool)
        while len(chosen) < options.count and any(pools):
            chosen += [pool.pop() for pool in pools if pool]
        chosen = chosen[: options.count]
    tests = nearest_tests(modules, options.files)

    plugins = [one.module for one in importlib.metadata.entry_points(group="pytest11")]
    for name in (*WARM, *plugins, *modules):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in [name for name in sys.modules if name.split(".")[0] in PACKAGES]:
        if name not in ("tests", "tests.mutants", "tests.mutation"):
            del sys.modules[name]

    files = sorted({file for module in {one.module for one in chosen} for file in tests[module]})
    with tempfile.TemporaryDirectory() as temporary:
        red = [Path(temporary, str(number)) for number in range(len(files))]
        plain = [
            (lambda folder, f=file, r=path: _tested([f], [], folder, r), options.slowest)  # type: ignore[misc]
            for file, path in zip(files, red, strict=True)
        ]
        times = _run_all(
            plain, options.jobs, lambda n, code, s: print(f"{s:6.1f} s {code} {files[n].name}")
        )
        skipped = [one for path in red if path.exists() for one in path.read_text().split("\n")]
    seconds = {
        file: taken for file, (code, taken) in zip(files, times, strict=True) if code is not None
    }
    print("red before any mutation:", *filter(None, skipped), sep="\n  ", flush=True)

    def told(number: int, code: int | None, taken: float) -> None:
        one = chosen[number]
        alive = "equivalent" if one.key in EQUIVALENT else "alive"
        one.state = "timeout" if code is None else "killed" if code else alive
        one.seconds = round(taken, 1)
        if one.state == "alive" or number % 20 == 0:
            print(f"{number:4} {one.state:10} {one.module}:{one.line} {one.key}", flush=True)

    tasks = []
    for one in chosen:
        near = sorted((f for f in tests[one.module] if f in seconds), key=seconds.__getitem__)
        limit = 30 + 4 * sum(seconds[file] for file in near)

        def work(folder: Path, one: Mutant = one, near: list[Path] = near) -> int:
            tree = mutants_of(one.module, one.place)[1]
            sys.meta_path.insert(0, _Planted(one.module, tree))
            return _tested(near, [s for s in skipped if s], folder)

        tasks.append((work, limit))
    _run_all(tasks, options.jobs, told)

    print(f"{'module':34} {'killed':>7} {'equivalent':>11} {'alive':>6}")
    for module in [*modules, ""]:
        rows = [one for one in chosen if module in ("", one.module)]
        count = Counter(one.state for one in rows)
        killed = count["killed"] + count["timeout"]
        print(f"{module or 'all':34} {killed:7} {count['equivalent']:11} {count['alive']:6}")
    if options.out:
        value = {
            "seed": options.seed,
            "tests": {one: [str(f.relative_to(ROOT)) for f in tests[one]] for one in modules},
            "mutants": [{**asdict(one), "key": one.key} for one in chosen],
        }
        options.out.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
    sys.exit(any(one.state == "alive" for one in chosen))


if __name__ == "__main__":
    main()
