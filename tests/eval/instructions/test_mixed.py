"""Episodes with a need outside the first server."""

import json
from pathlib import Path

from eval.instructions.mixed import mixed_steps, outside_requests
from eval.instructions.steps import DecisionStep


def step(episode: str, number: int) -> DecisionStep:
    gold = f"shop/t{number}"
    before = tuple(f"shop/t{at}" for at in range(1, number))
    return DecisionStep(
        f"{episode}/{number}", episode, "shop", f"Do {episode}.", before, before, gold, (gold,)
    )


def test_every_second_episode_asks_once_for_something_else_after_half_of_its_calls() -> None:
    steps = [step(one, number) for one in ("a", "b", "c") for number in (1, 2, 3, 4)]
    mix = mixed_steps(steps, [("Any rain?", "sky/weather")])
    outside = [one for one in mix if one.id.endswith("/outside")]
    assert [one.episode for one in outside] == ["a", "c"]
    assert [one for one in mix if one not in outside] == steps
    need = outside[0]
    assert (need.gold, need.history) == ("sky/weather", ("shop/t1", "shop/t2"))
    assert need.instruction == "Do a.\nAlso: Any rain?"
    assert mixed_steps(steps, []) == steps


def test_requests_are_those_that_one_tool_of_the_catalogue_serves(tmp_path: Path) -> None:
    (tmp_path / "seal-tools").mkdir()
    rows = [("one", ["f"]), ("two", ["f", "g"]), ("none", ["h"])]
    lines = "".join(json.dumps({"text": text, "tools": tools}) + "\n" for text, tools in rows)
    (tmp_path / "seal-tools" / "queries.jsonl").write_text(lines, encoding="utf-8")
    known = {"srv/f", "g"}
    assert outside_requests(tmp_path / "episodes", known) == [("one", "srv/f")]
    assert outside_requests(tmp_path / "elsewhere" / "episodes", known) == []
