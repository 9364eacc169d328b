"""Texts of requests and of models: moments, plans, values of a call."""

import json
from datetime import datetime
from pathlib import Path

from attack.targets.target import Target, as_json
from attack.targets.tool_files import TOOLS

AT = datetime(2025, 4, 17, 12)
PHRASES = (
    "push the dock meeting from Friday at half past nine to the 3rd of May, an hour later",
    "remind me in 2 weeks, the day before easter, not on Monday, at 24:00 or 7:30 pm",
    "since last night until 2025-02-30T10:00, every other day between 8 and 9",
)
PLANS = (
    'send_mail(to="Omar", subject="a\\"b", body="c")',
    'snooze_reminder(title="Rent", until="2025-04-18T09:00")',
    'notify(contacts=["a", "b"], number=-7)',
    "none()",
)


def _text(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    return text if b"\xed" not in content else text.replace("\ufffd", "\ud800")


def _times(content: bytes, folder: Path) -> object:
    from ctrag.text.dates import temporal_expressions as times

    text = content.decode("utf-8", "replace")
    year = (1, 999, 1000, 2024, 8999, 9999)[len(content) % 6]
    now = datetime(year, 2, 28, 23, 59)
    return (
        times.offered_datetimes(text, now, [now, AT, datetime.max]),
        times.offered_dates(text, now, [AT]),
        times.offered_beginnings(text, now),
    )


def _plan(content: bytes, folder: Path) -> object:
    from ctrag.assistant.planning.plan import Plan, check
    from ctrag.toolbox import Toolbox

    plan = Plan.parse(_text(content))
    assert Plan.parse(str(plan)) == plan, "a plan reads what it wrote"
    return check(plan, Toolbox.packaged())


def _call(content: bytes, folder: Path) -> object:
    """A tool's schema, and a request made of its own text."""
    import llguidance

    from ctrag.agents.calls.call_grammar import ArgumentRules
    from ctrag.agents.calls.filling import spoken
    from ctrag.agents.catalogue.tool import CatalogueTool
    from ctrag.text.lark import literal, spelled

    try:
        schema = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(schema, dict):
        return None
    said = content.decode("utf-8", "replace")[:300]
    rules = ArgumentRules(said, said)
    parts = [
        f"{literal(f'{spelled(name)}: ')} {value}"
        for name, given in spoken(CatalogueTool("t", "d", "", schema)).items()
        if (value := rules.value(name, given if isinstance(given, dict) else {}, True)) is not None
    ]
    if parts:
        lark = rules.lark(" | ".join(parts))
        problem = llguidance.LLMatcher.validate_grammar(llguidance.grammar_from("lark", lark))
        assert not problem, f"no grammar: {problem[:200]}"
    return parts


TARGETS = {
    "time phrases": Target(tuple(one.encode() for one in PHRASES), _times),
    "plan syntax": Target(tuple(one.encode() for one in PLANS), _plan),
    "call grammar": Target((as_json(TOOLS[0]["parameters"]),), _call),
}
