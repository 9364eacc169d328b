"""A clock that a test moves by hand, and tools with little in them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ctrag.agents.catalogue.tool import CatalogueTool


@dataclass
class HandClock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> HandClock:
    """`clock()` is the time; `clock.now += 5` lets five seconds pass."""
    return HandClock()


@pytest.fixture(scope="session")
def tool() -> Callable[..., CatalogueTool]:
    """`tool("mail/send")`: a tool of a server, or of none."""

    def make(tool_id: str, description: str = "", **more: Any) -> CatalogueTool:
        server, _, name = tool_id.rpartition("/")
        properties = {"text": {"type": "string"}}
        return CatalogueTool(name, description, server, {"properties": properties}, **more)

    return make
