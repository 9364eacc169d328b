"""The dependency experiment as tables of text."""

from typing import Any

from eval.core.experiment import Experiment
from eval.core.tables import Table, figure
from eval.dependency.new_tools import new_tools_lines


def table(experiment: Experiment) -> Table:
    """Methods against measures, with what ranking takes and what the roll-out finishes."""
    extra: Any = experiment.extra
    several = extra.get("steps_with_several")
    rows = []
    for name, found in experiment.figures.items():
        values: Any = found
        bounds: Any = experiment.intervals[name]
        shown = {
            one: figure(values[one])
            + (f" ({figure(bounds[one][0])}–{figure(bounds[one][1])})" if bounds[one] else "")
            for one in ("top1", "top1_later")
        }
        speed = extra["speed"][name]
        rows.append(
            [
                name,
                figure(values["mrr"]),
                shown["top1"],
                *([figure(values["f1"])] if several else []),
                figure(values["top5"]),
                shown["top1_later"],
                figure(values["top5_later"]),
                figure(extra["first_step"][name].get("top1")),
                figure(extra["roll_out"][name]["exact"]),
                f"{speed['p50_ms']:.2f}",
                f"{speed['p50_new_request_ms']:.2f}",
                f"{speed['p50_whole_request_ms']:.2f}",
                f"{speed['p50_processor_ms']:.2f}",
                f"{extra['parameters'][name]:,}",
            ]
        )
    notes = [f"{name}: not run: {reason}" for name, reason in experiment.skipped.items()]
    held: Any = extra["held_out"]
    notes.append(
        f"{held['steps']} steps of {held['demonstrations']} demonstrations that were held out, "
        f"{extra['demonstrations']} learned from in {extra['fit_seconds']} s"
    )
    if extra["seen_by_model"]:
        notes.append(
            f"{extra['seen_by_model']} of these requests were learned from: "
            "the figures say nothing about others"
        )
    notes += _of_prompts(extra.get("prompt"), extra.get("end_to_end"))
    notes += _without_twins(extra.get("without_twins") or {})
    notes += new_tools_lines(extra.get("unseen_tools"))
    notes.append(
        f"{several} steps have several acceptable tools: ranks are of the best of them, F1 is of "
        "as many first tools as are acceptable; intervals over chains"
        if several
        else "every step has one acceptable tool, so that F1 is top-1; intervals over chains"
    )
    notes.append(
        "ms of ranking one step once its vectors are there; new: the first of a request; whole: "
        "all steps of a request"
    )
    tops = ["top-1", "F1"] if several else ["top-1 = F1"]
    header = ["method", "MRR", *tops, "top-5", "top-1 later", "top-5 later", "top-1 first"]
    return Table(
        [*header, "roll-out", "ms", "ms new", "ms whole", "CPU ms", "parameters"], rows, notes
    )


def _of_prompts(prompt: Any, whole: Any) -> list[str]:
    """What a model chooses under each strategy, and whole requests by who masks the tools."""
    lines: list[str] = []
    if prompt:
        rows = [
            [
                name,
                figure(one["accuracy"]),
                f"{one['constant_tokens'] + one['variable_tokens']:.0f}",
            ]
            for name, one in prompt["strategies"].items()
        ]
        lines += Table(["prompt", "right", "tokens"], rows).lines()
        lines.append(
            f"{prompt['steps']} steps, chosen by {prompt['chooser']}; the retriever's own first "
            f"{figure(prompt['retriever_top1'])}"
        )
    if whole:
        rows = [
            [name, *(_with(one[key]["mean"], one[key]["interval"]) for key in ("calls", "success"))]
            for name, one in whole["methods"].items()
        ]
        lines += Table(["tools masked by", "all calls right", "and arguments"], rows).lines()
        lines.append(f"{whole['requests']} requests, {whole['with_arguments']} with arguments")
    return lines


def _without_twins(found: Any) -> list[str]:
    """A line per method: figures of those that nothing learned from gives away."""
    lines = []
    for name, one in found.items():
        if "figures" not in one:
            lines.append(f"without twins in {name}: none is left of {one['twins']}")
            continue
        lines.append(
            f"without twins in {name} ({one['twins']} taken out): {one['steps']} steps of "
            f"{one['demonstrations']} demonstrations"
        )
        rows = [
            [
                method,
                figure(values["mrr"]),
                *(_bounded(values, one["intervals"][method], key) for key in _TOPS),
                figure(one["first_step"][method].get("top1")),
            ]
            for method, values in one["figures"].items()
        ]
        head = ["method", "MRR", "top-1", "top-5", "top-1 later", "top-5 later", "top-1 first"]
        lines += Table(head, rows).lines()
    return lines


_TOPS = ("top1", "top5", "top1_later", "top5_later")


def _bounded(values: Any, bounds: Any, name: str) -> str:
    """A figure with its interval."""
    return _with(values[name], bounds[name])


def _with(value: Any, bounds: Any) -> str:
    return figure(value) + (f" ({figure(bounds[0])}–{figure(bounds[1])})" if bounds else "")
