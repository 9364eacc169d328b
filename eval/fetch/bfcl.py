"""BFCL's conversations of several turns, with the calls whose order is free."""

from pathlib import Path

from ctrag.agents.catalogue.formats import json_schema
from eval.fetch.reading import Row, lines_of
from eval.replay.conversations import SimulatedConversation, load_conversations
from eval.replay.simulators import SIMULATORS


def conversations(package: Path) -> list[Row]:
    """Turn by turn; `acceptable` names what could be called in a call's place, by replay."""
    return [_conversation(one) for one in load_conversations(package / "data").values()]


def tools(package: Path) -> list[Row]:
    """All functions of the simulators, whose modules are the servers."""
    return [
        {
            "name": row["name"],
            "server": server,
            "description": row["description"],
            "parameters": json_schema(row["parameters"]),
        }
        for server in SIMULATORS.values()
        for row in lines_of(package, f"data/multi_turn_func_doc/{server}.json")
    ]


def _conversation(one: SimulatedConversation) -> Row:
    simulation = one.simulation

    def id_of(tool: str) -> str:
        return f"{simulation.server(tool)}/{tool}"

    return {
        "conversation_id": one.id,
        "turns": [
            {
                "user": text,
                "calls": [
                    {
                        "api": id_of(call.name),
                        "arguments": simulation.arguments(call),
                        "acceptable": list(map(id_of, others)),
                    }
                    for call, others in zip(calls, free, strict=True)
                ],
            }
            for text, calls, free in zip(one.texts, one.turns, one.acceptable(), strict=True)
        ],
    }
