"""Instructions beside found tools: which, how many, for whom, and their files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.agents.catalogue.access import AccessRules, Grant, Principal
from ctrag.agents.prompt.instruction_files import cut_folder
from ctrag.agents.server.gateway import Gateway
from ctrag.agents.server.guidance import PREFIX, Guidance, files_of
from ctrag.agents.server.results import READ
from tests.agents.prompt.toys import TopicEncoder, count_words
from tests.agents.server.conftest import tool

pytestmark = pytest.mark.anyio
TOOLS = [
    tool("send_mail", "Send a mail", "mail"),
    tool("print_page", "Print a page", "printer"),
    tool("stamp_letter", "Put a value on an envelope", "post"),
]
LETTERS = """---
name: letters
description: Write and send a letter to a customer, on paper or by mail.
---
# Letters

Use `send_mail`; on paper `stamp_letter`. Sign with two names.
"""


def guidance(folder: Path, budget: int = 500) -> Guidance:
    skill = folder / "letters"
    (skill / "forms").mkdir(parents=True)
    (skill / "SKILL.md").write_text(LETTERS, encoding="utf-8")
    (skill / "forms" / "thanks.txt").write_text("Dear customer", encoding="utf-8")
    (skill / "forms" / "logo.png").write_bytes(b"\x89PNG\xff")
    cut = cut_folder(folder, count_words)
    encoder = TopicEncoder()
    files = files_of(cut.skills)
    return Guidance(cut.fragments, encoder=encoder, count=count_words, budget=budget, files=files)


def names(answer: Any) -> list[str]:
    return [one["name"] for one in answer.instructions]


@pytest.mark.model
async def test_a_search_brings_a_skill_once_with_its_tools_and_its_files(
    gateway: Callable[..., Gateway], tmp_path: Path
) -> None:
    async with gateway(TOOLS, guidance=guidance(tmp_path)).running() as running:
        answer = await running.search(None, "send a mail to a customer", limit=3)
        [given] = answer.as_json()["instructions"]
        assert given["name"] == "letters#letters"
        assert "mail/send_mail" in given["for"]
        assert "Sign with two names." in given["text"]
        assert given["files"] == [
            f"{PREFIX}letters/forms/logo.png",
            f"{PREFIX}letters/forms/thanks.txt",
        ]
        assert {one["name"] for one in answer.shown} >= {"mail/send_mail", "post/stamp_letter"}
        again = await running.search(None, "send a mail to a customer", answer.handle)
        assert "instructions" not in again.as_json()
        address = {"uri": given["files"][1]}
        read = await running.call(None, answer.handle, READ, address)
        assert read.result.content[0].text == "Dear customer"  # type: ignore[union-attr]


@pytest.mark.model
async def test_what_speaks_only_of_tools_that_the_caller_may_not_use_is_not_told(
    gateway: Callable[..., Gateway], tmp_path: Path
) -> None:
    rules = AccessRules((Grant("user:ada", "mail/*"), Grant("user:bob", "printer/*")))
    served = gateway(TOOLS, access=rules, guidance=guidance(tmp_path))
    async with served.running() as running:
        query = "send a letter to a customer by mail"
        assert names(await running.search(Principal("ada"), query)) == ["letters#letters"]
        assert names(await running.search(Principal("bob"), query)) == []
        with pytest.raises(ValueError, match="there are no instructions"):
            await running.resources.read(Principal("bob"), f"{PREFIX}letters")


@pytest.mark.model
def test_instructions_keep_to_their_budget_and_to_the_matter(tmp_path: Path) -> None:
    guide = guidance(tmp_path)
    assert guide.beside("who won the match", [], "a") == []
    assert len(guide.beside("write a letter to a customer", [], "b")) == 1
    small = guidance(tmp_path / "small", budget=5)
    assert small.beside("write a letter to a customer", [], "c") == []


def test_only_texts_of_the_folder_can_be_read(tmp_path: Path) -> None:
    guide = guidance(tmp_path)
    assert "Sign with two names." in guide.read(f"{PREFIX}letters").contents[0].text  # type: ignore[union-attr]
    for name in ("letters/forms/logo.png", "letters/../letters/SKILL.md", "other", "letters/x"):
        with pytest.raises(ValueError, match="uri: "):
            guide.read(PREFIX + name)
