"""Folders to measure on, made of small checkouts in the formats of their sources."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.catalogue.tool import load_catalogue
from ctrag.agents.next_tool import load_demonstrations
from ctrag.cli.evaluate_learning import fetch
from eval.fetch.sources import make_folder

TAU2_TOOLS = '''
class ShopTools:
    @is_tool(ToolType.WRITE)
    def cancel(self, order_id: str, items: List[str], limit: Optional[int] = 3) -> Order:
        """Cancel an order.
        Ask first.

        Args:
            order_id: The order, such as
                '#W1'.
            items: Which: all of them.

        Raises:
            ValueError: If it was shipped.
        """
        raise SystemExit("is parsed and never run")

    def helper(self) -> None:
        """No tool."""
'''
TALK_API = """
class AddAlarm(API):
    description = "Sets an alarm."
    parameters = {"time": {"type": "string", "required": True}}
    output = {"alarm_id": {"type": "string"}}
    is_action = True
    database_name = ALARMS
"""


def task(number: int, *actions: dict[str, Any]) -> dict[str, Any]:
    said = {
        "reason_for_call": "You want\nto cancel.",
        "known_info": None,
        "task_instructions": "Be brief.",
    }
    return {
        "id": number,
        "user_scenario": {"instructions": said},
        "evaluation_criteria": {"actions": list(actions)},
    }


def talk(name: str) -> dict[str, Any]:
    call = {"request": {"api_name": "AddAlarm", "parameters": {"time": "7"}}, "exception": None}
    return {
        "name": name,
        "user": {"name": "Ada", "password": "secret"},
        "metadata": {},
        "conversation": [
            {"role": "user", "text": "Wake me at 7"},
            {"role": "assistant", "text": "Done", "apis": [call]},
        ],
    }


def tau2() -> dict[str, str]:
    call = {"name": "cancel", "arguments": {"order_id": "#W1"}}
    users = {"requestor": "user", "name": "reboot", "arguments": {}}
    base = "data/tau2/domains"
    return {
        **{
            f"src/tau2/domains/{one}/tools.py": TAU2_TOOLS
            for one in ("retail", "airline", "telecom")
        },
        f"{base}/retail/tasks.json": json.dumps([task(0, call, users), task(1)]),
        f"{base}/telecom/tasks_small.json": json.dumps([task(5, users)]),
        f"{base}/retail/policy.md": "# Retail",
        f"{base}/airline/policy.md": "# Airline",
        f"{base}/telecom/main_policy.md": "# Telecom",
        f"{base}/telecom/tech_support_manual.md": "# Manual",
        f"{base}/telecom/tech_support_workflow.md": "# Workflow",
    }


def ultratool() -> dict[str, str]:
    rows = [
        {"id": n, "user_request": f"ask {n}\n", "task_nodes": [{"task": "a"}, {"task": "b"}]}
        for n in (1, 2)
    ]
    nodes = [{"id": "a", "desc": "First"}, {"id": "b", "desc": "Second"}]
    return {
        "data/ultratool/data.json": "\n".join(map(json.dumps, rows)),
        "data/ultratool/split_ids.json": json.dumps({"test_ids": {"chain": ["2"]}}),
        "data/ultratool/tool_desc.json": json.dumps({"nodes": nodes}),
    }


def seal() -> dict[str, str]:
    call = {"api": "getWater", "parameters": {"place": "lake"}}
    tool = {
        "api_name": "getWater",
        "api_description": "Quality of water",
        "parameters": {"place": {"type": "str", "description": "Where"}},
        "required": ["place"],
    }
    return {
        "Seal-Tools_Dataset/dev.jsonl": json.dumps(
            {"id": "d1", "query": "Water?", "calling": [call]}
        ),
        "Seal-Tools_Dataset/tool.jsonl": json.dumps(tool),
    }


def tooltalk() -> dict[str, str]:
    return {
        "src/tooltalk/apis/alarm.py": TALK_API,
        "src/tooltalk/apis/api.py": TALK_API.replace("AddAlarm", "Base"),
        "data/easy/Add-easy.json": json.dumps(talk("Add-easy")),
        **{f"data/tooltalk/h{n}.json": json.dumps(talk(f"h{n}")) for n in range(3)},
    }


@pytest.fixture
def checkout(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "checkout" / name).write_text(text, encoding="utf-8")
        return tmp_path / "checkout"

    return write


def test_tau2_has_the_agents_calls_and_tools_by_their_docstrings(
    checkout: Callable[..., Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    made = make_folder("tau2-episodes", checkout(tau2()), out)
    assert (made["episodes.jsonl"], made["tools.json"], made["policies/retail.md"]) == (1, 3, 1)
    [one] = load_demonstrations(out)
    assert (one.id, one.text, one.tools) == (
        "retail-0",
        "You want to cancel. Be brief.",
        ("cancel",),
    )
    tool = json.loads((out / "tools.json").read_text(encoding="utf-8"))[0]
    assert (tool["description"], tool["effect"]) == ("Cancel an order. Ask first.", "write")
    assert tool["fails_when"] == "ValueError: If it was shipped."
    assert tool["parameters"] == {
        "type": "object",
        "properties": {
            "order_id": {"type": "string", "description": "The order, such as '#W1'."},
            "items": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Which: all of them.",
            },
            "limit": {"type": "integer"},
        },
        "required": ["order_id", "items"],
    }
    assert "MIT" in (out / "SOURCE.md").read_text(encoding="utf-8")


def test_what_is_left_for_tests_stays_out(checkout: Callable[..., Path], tmp_path: Path) -> None:
    make_folder("ultratool-chains", checkout(ultratool()), tmp_path / "u")
    assert [(one.id, one.text) for one in load_demonstrations(tmp_path / "u")] == [("1", "ask 1")]
    make_folder("tooltalk", checkout(tooltalk()), tmp_path / "t")
    rows = load_demonstrations(tmp_path / "t")
    assert [one.group for one in rows] == ["Add-easy", "h0", "h2"]
    assert "secret" not in (tmp_path / "t" / "conversations.jsonl").read_text(encoding="utf-8")
    tools = json.loads((tmp_path / "t" / "tools.json").read_text(encoding="utf-8"))
    assert [tool["name"] for tool in tools] == ["AddAlarm"]


def test_seal_tools_become_json_schema(checkout: Callable[..., Path], tmp_path: Path) -> None:
    make_folder("seal-tools", checkout(seal()), tmp_path / "s")
    [tool] = load_catalogue(tmp_path / "s" / "tools.json")
    assert tool.parameters["properties"] == {"place": {"type": "string", "description": "Where"}}
    assert load_demonstrations(tmp_path / "s")[0].tools == ("getWater",)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("data/ultratool/data.json", "{", "data.json:1: not JSON"),
        ("data/ultratool/data.json", '{"id": 1}', "is not as WxxShirley/GNN4TaskPlan was at f14"),
        ("data/ultratool/split_ids.json", "[]", "is not as WxxShirley/GNN4TaskPlan was at f14"),
    ],
)
def test_a_checkout_of_another_version_writes_nothing(
    checkout: Callable[..., Path], tmp_path: Path, name: str, text: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        make_folder("ultratool-chains", checkout({**ultratool(), name: text}), tmp_path / "u")
    assert not (tmp_path / "u").exists()


def test_another_repository_and_another_name_are_named(
    checkout: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError, match="is it one of this source"):
        make_folder("seal-tools", checkout(ultratool()), tmp_path / "s")
    with pytest.raises(ValueError, match="name: 'tau3' is unknown; known: tau2-episodes, "):
        make_folder("tau3", tmp_path, tmp_path / "s")


def test_a_packages_conversations_name_the_calls_whose_order_is_free(tmp_path: Path) -> None:
    pytest.importorskip("bfcl_eval", reason="the conversations are those of bfcl-eval")
    fetch("bfcl-turns", checkout=None, out=tmp_path / "b")
    tools = {one.id for one in load_catalogue(tmp_path / "b" / "tools.json")}
    turns = load_demonstrations(tmp_path / "b")
    assert len({one.group for one in turns}) == 200
    assert {name for one in turns for name in one.tools} <= tools
    free = [step for one in turns for step in one.steps() if step.others]
    assert free
    assert {name for step in free for name in step.others} <= tools


def test_what_a_package_carries_takes_no_checkout(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--from: bfcl-turns is made of bfcl-eval 2026"):
        fetch("bfcl-turns", checkout=tmp_path, out=tmp_path / "b")
