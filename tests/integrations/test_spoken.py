"""Messages of the assistant as Home Assistant speaks them."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ctrag.assistant.server.told import as_markdown

CLIENT = Path(__file__).parents[2] / "integrations/home_assistant/custom_components/ctrag/client.py"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The component's module; what it needs of Home Assistant's packages is not used here."""
    aiohttp = ModuleType("aiohttp")
    vars(aiohttp).update(ClientTimeout=dict, ClientSession=object, ClientError=OSError)
    monkeypatch.setitem(sys.modules, "aiohttp", aiohttp)
    spec = importlib.util.spec_from_file_location("spoken_client", CLIENT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "text",
    [
        "Wi-Fi: p\\_ss\\!word",
        "![a](b) [c]: <d> `e`",
        r"C:\_new\[x]",
        r"\\server\!share",
        "Call سارة (+971 4)?",
        "wow!",
    ],
)
def test_what_is_spoken_is_what_was_said_before_it_was_made_markdown(
    client: Any, text: str
) -> None:
    assert client.spoken(as_markdown(text)) == text
