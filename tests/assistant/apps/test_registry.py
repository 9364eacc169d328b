"""Every API of the toolbox can run, and is where one looks for it."""

import inspect

import pytest

from ctrag.assistant.apps.registry import APIS
from ctrag.toolbox import Tool, Toolbox

TOOLS = list(Toolbox.packaged())


def test_registry_has_exactly_the_toolboxs_apis() -> None:
    assert list(APIS) == [tool.api for tool in TOOLS]
    assert len(APIS) == 59


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.api)
def test_api_is_a_documented_function_of_its_apps_module(tool: Tool) -> None:
    api = APIS[tool.api]
    assert api.__name__ == tool.api
    assert api.__module__ == f"ctrag.assistant.apps.{tool.app}"
    assert inspect.getdoc(api)
