"""The conversation agent in Home Assistant itself, as far as it can be started here.

It needs Home Assistant's own Python and none of ctrag's packages:
`pytest --noconftest -c /dev/null tests/integrations/test_home_assistant.py`. With
CTRAG_ASSISTANT_URL it also talks with an assistant that is served there.
"""

import asyncio
import json
import os
import shutil
import threading
from collections.abc import Callable, Coroutine, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "homeassistant",
    reason="needs Home Assistant, which needs a newer Python: pip install homeassistant hassil "
    "home-assistant-intents",
)

COMPONENT = Path(__file__).parents[2] / "integrations/home_assistant/custom_components/ctrag"
TOKEN = "open-sesame"
QUESTION = r"Send to Gord Levy: “I'm late \[really\]”? Answer “yes” to do it."


class Chat(BaseHTTPRequestHandler):
    """The chat endpoint: asks before it sends, as the assistant does."""

    seen: list[list[dict[str, str]]]

    def do_GET(self) -> None:
        self.reply({"object": "list", "data": [{"id": "ctrag"}]})

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        messages = json.loads(self.rfile.read(length))["messages"]
        self.seen.append(messages)
        said = messages[-1]["content"]
        if len(said) > 1_000:
            self.reply({"error": {"message": "a request has at most 1000 characters"}}, 400)
            return
        agreed = said == "yes" and messages[-2]["content"] == QUESTION
        text = "Told Gord Levy." if agreed else QUESTION
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        self.reply({"choices": [choice], "ctrag": {"asks": not agreed}})

    def reply(self, content: dict[str, Any], status: int = 200) -> None:
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            content, status = {"error": {"message": "no"}}, 401
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def served() -> Iterator[str]:
    Chat.seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


Use = Callable[[Any], Coroutine[Any, Any, None]]


def in_home_assistant(folder: Path, use: Use) -> None:
    """Run something in a Home Assistant that has the component."""
    from homeassistant import auth, bootstrap, config_entries, loader
    from homeassistant.core import HomeAssistant
    from homeassistant.setup import async_setup_component

    shutil.copytree(COMPONENT, folder / "custom_components" / "ctrag")

    async def run() -> None:
        hass = HomeAssistant(str(folder))
        hass.config.skip_pip = True
        hass.config_entries = config_entries.ConfigEntries(hass, {})
        loader.async_setup(hass)
        await bootstrap.async_load_base_functionality(hass)
        hass.auth = await auth.auth_manager_from_config(hass, [], [])
        try:
            for domain in ("homeassistant", "conversation"):
                assert await async_setup_component(hass, domain, {}), domain
            await use(hass)
        finally:
            await hass.async_stop(force=True)

    asyncio.run(run())


async def added(hass: Any, url: str, token: str = TOKEN) -> Any:
    """What the form of the integration leads to."""
    flows = hass.config_entries.flow
    form = await flows.async_init("ctrag", context={"source": "user"})
    assert form["type"] == "form"
    return await flows.async_configure(form["flow_id"], {"url": url, "token": token})


async def said(hass: Any, text: str, conversation_id: str | None = None) -> Any:
    """What Home Assistant answers to a sentence for the agent."""
    from homeassistant.components import conversation
    from homeassistant.core import Context

    await hass.async_block_till_done()
    [agent] = [one for one in hass.states.async_entity_ids("conversation") if "ctrag" in one]
    return await conversation.async_converse(
        hass, text, conversation_id, Context(), language="en", agent_id=agent
    )


def speech(result: Any) -> str:
    return str(result.response.speech["plain"]["speech"])


def test_a_question_is_spoken_and_its_answer_listened_for(tmp_path: Path, served: str) -> None:
    async def use(hass: Any) -> None:
        entry = await added(hass, f"{served}/")
        assert entry["type"] == "create_entry"
        assert entry["data"] == {"url": served, "token": TOKEN}
        asked = await said(hass, "tell Gord I'm late")
        assert asked.continue_conversation
        assert "“I'm late [really]”" in speech(asked)
        done = await said(hass, "yes", asked.conversation_id)
        assert speech(done) == "Told Gord Levy."
        assert not done.continue_conversation
        assert [one["role"] for one in Chat.seen[-1]] == ["user", "assistant", "user"]
        assert (await added(hass, served))["reason"] == "already_configured"

    in_home_assistant(tmp_path, use)


def test_what_is_not_answered_is_said_and_no_token_is_told(tmp_path: Path, served: str) -> None:
    async def use(hass: Any) -> None:
        assert (await added(hass, served, "wrong"))["errors"] == {"base": "invalid_auth"}
        nowhere = "http://127.0.0.1:9"
        assert (await added(hass, nowhere))["errors"] == {"base": "cannot_connect"}
        await added(hass, served)
        refused = await said(hass, "x" * 1_001)
        assert refused.response.response_type.value == "error"
        assert "at most 1000 characters" in speech(refused)

    in_home_assistant(tmp_path, use)


def test_a_served_assistant_answers(tmp_path: Path) -> None:
    url = os.environ.get("CTRAG_ASSISTANT_URL")
    if url is None:
        pytest.skip("needs CTRAG_ASSISTANT_URL")

    async def use(hass: Any) -> None:
        await added(hass, url, "")
        number = None
        for text in os.environ["CTRAG_ASSISTANT_SAYS"].split("|"):
            answer = await said(hass, text, number)
            number = answer.conversation_id
            print(f"> {text}\n{speech(answer)}")
            assert answer.response.response_type.value != "error"

    in_home_assistant(tmp_path, use)
