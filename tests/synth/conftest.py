"""A fake language model: a real HTTP server that answers according to the form."""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ctrag.settings import settings
from ctrag.toolbox import Toolbox
from stores.people.app_spec import packaged_apps
from synth.openai.provider import OpenAIProvider, open_asker
from tests.conftest import Replying, chat, serving

KEY = "sk-canary-0815-do-not-print"
HTML = (200, {"Content-Type": "text/html"}, b"<html>gateway</html>")
COUNTS = {"mail": 1, "notes": 3, "music": 2}
"""Items of a person."""


def status(code: int, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """An error response."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps({"error": {"message": f"status {code}"}}).encode()
    return code, {"Content-Type": "application/json", **named}, body


@dataclass
class Model:
    """Answers every question correctly, except for the queued `faults` of its form."""

    url: str = ""
    faults: dict[str, list[Any]] = field(default_factory=dict)
    """Form → answers instead: a raw reply, a text, or seconds of silence; a function turns the
    correct answer into a wrong one."""
    pause: float = 0.0
    asked: list[dict[str, Any]] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    most: int = 0
    """The most questions open at once."""
    heard: Callable[[int], None] = lambda count: None
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    open: int = 0

    def count(self, form: str) -> int:
        return Counter(self.forms)[form]

    def last(self, form: str) -> str:
        """The last message of the last question of a form."""
        place = len(self.forms) - 1 - self.forms[::-1].index(form)
        return str(self.asked[place]["messages"][-1]["content"])


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    served = Model()
    with serving(served, handler(served), monkeypatch):
        yield served


def handler(served: Model) -> type[Replying]:
    class Handler(Replying):
        def answer(self, question: dict[str, Any]) -> None:
            form = form_of(question)
            with served.lock:
                served.open += 1
                served.most = max(served.most, served.open)
                served.asked.append(question)
                served.forms.append(form)
                waiting = served.faults.get(form) or []
                fault = waiting.pop(0) if waiting else None
                count = len(served.asked)
            try:
                served.heard(count)
                served.stop.wait(served.pause)
                self.reply(question, form, fault)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client has given up
            finally:
                with served.lock:
                    served.open -= 1

        def reply(self, question: dict[str, Any], form: str, fault: Any) -> None:
            if isinstance(fault, float):
                served.stop.wait(fault)
                return
            if isinstance(fault, tuple):
                code, headers, body = fault
            else:
                reply = fault
                if fault is None or callable(fault):
                    answer = good(form, question)
                    reply = answer if fault is None else fault(answer)
                code, headers, body = chat(reply if isinstance(reply, str) else json.dumps(reply))
                body = body.replace(b'"prompt_tokens": 100', b'"prompt_tokens": 2000')
                body = body.replace(b'"completion_tokens": 7', b'"completion_tokens": 500')
            self.send(code, headers, body)

    return Handler


def form_of(question: dict[str, Any]) -> str:
    """The requested form, from the schema in the prompt if necessary."""
    wanted = question.get("response_format", {}).get("json_schema")
    return str(wanted["name"]) if wanted else "untold"


def good(form: str, question: dict[str, Any]) -> Any:
    """A correct answer; the same for the same question."""
    prompt = question["messages"][1]["content"]
    seed = question["seed"]
    if form == "persona":
        return person(prompt, seed)
    if form.endswith("_items"):
        return items(form.removesuffix("_items"), prompt, schema_of(prompt))
    if form == "requests":
        return requests(prompt, seed)
    if form == "tools":
        none = "warp drive" in prompt
        return {"tools": [] if none else ["read_note", "search_notes", "list_notes"]}
    if form == "arguments":
        return {"title": re.findall(r"- \S+: notes: ([^;]+)", prompt)[0]}
    if form == "thought":
        return {"thought": "Notes is where such a thing was written down before."}
    if form == "toolbox":
        return toolbox(prompt)
    raise AssertionError(form)


def schema_of(prompt: str) -> Any:
    return json.loads(prompt.splitlines()[-1])


FIRST = "Ada Ben Cleo Dario Elif Femi Greta Hugo Iris Jomo Kaito Lena Milo Nadia Otto Pia".split()
LAST = "Quist Okoro Marsh Rossi Yilmaz Adeyemi Falk Lindt Novak Mwangi Sato Weber".split()


def person(prompt: str, seed: int) -> dict[str, Any]:
    name = f"{FIRST[seed % 16]} {LAST[seed % 12]}-{seed % 1000}"
    others = [f"{FIRST[(seed + n) % 16]} {LAST[(seed + 5 * n) % 12]}" for n in (1, 2, 3, 4)]
    return {
        "profile": {
            "name": name,
            "age": 41,
            "profession": "ferry pilot",
            "city": "Bergen",
            "timezone": "Europe/Oslo",
            "home": "Elm Street 4, Bergen",
            "work": "Quay 2",
            "favorite_music_genre": "jazz",
            "favorite_movie_genre": "comedy",
            "favorite_cuisine": "Thai",
            "favorite_sport": "rowing",
            "hobbies": ["knots", "radio"],
            "household": "alone with a cat",
        },
        "contacts": [
            {"name": one, "relation": role, "phone": f"+47 555 010{n}", "email": None}
            for n, (one, role) in enumerate(
                zip(others, ("sister", "dentist", "harbour master", "neighbour"), strict=True)
            )
        ],
        "routines": ["Rows at seven.", "Reads the tide table at six.", "Calls his sister at nine."],
    }


WORDS = (
    "anchor basil copper dahlia ember falcon ginger harbor indigo juniper kettle lantern marble "
    "nutmeg orchid pepper quartz raven saffron timber umber velvet walnut yarrow zinc"
).split()


def items(app: str, prompt: str, schema: Any) -> dict[str, Any]:
    wanted = schema["properties"]["items"]
    day = re.search(r"It is (\d{4}-\d\d-\d\d)", prompt)
    assert day is not None
    own = sum(map(ord, prompt))
    people = re.findall(r"^- (\w+): string, the person", prompt, flags=re.MULTILINE)
    contact = re.search(r"Contacts:\n- ([^:]+):", prompt)
    assert contact is not None
    made = []
    for number in range(wanted["minItems"]):
        values: dict[str, Any] = {}
        for name, kind in wanted["items"]["properties"].items():
            options = kind.get("anyOf", [kind])[0]
            if name == "usage":
                values[name] = {"opens_30d": 0}
            elif "enum" in options:
                values[name] = options["enum"][0]
            elif name in people and number == 0:
                values[name] = contact[1]
            elif options.get("format") == "date-time":
                hour = 5 if name != "end" else 6
                values[name] = f"{day[1]}T{hour:02}:{(number * 7) % 60:02}"
            elif options["type"] == "boolean":
                values[name] = False
            elif options["type"] == "integer":
                values[name] = 60
            elif options["type"] == "array":
                values[name] = []
            else:
                spread = own + 7 * number + 3 * len(name)
                values[name] = f"{WORDS[spread % 25]} {WORDS[(spread // 25) % 25]} {number + 1}"
        made.append(values)
    return {"items": made}


def requests(prompt: str, seed: int) -> dict[str, Any]:
    ids: dict[str, list[str]] = {}
    for item_id, app in re.findall(r"^- (\S+): (\w+): ", prompt, flags=re.MULTILINE):
        ids.setdefault(app, []).append(item_id)
    kinds = re.findall(r"^- (\w+): ", prompt.partition("in this order:")[2], flags=re.MULTILINE)
    begins = re.search(r"lies between (\S+)", prompt)
    assert begins is not None
    made = []
    for place, kind in enumerate(kinds):
        relevant = [ids["notes"][place % len(ids["notes"])]]
        if kind == "multi":
            relevant.append(ids["mail"][0])
        made.append(
            {
                "kind": kind,
                "text": f"start the warp drive, number {seed} {place}"
                if kind == "no_tool"
                else f"what did I put down about that thing {seed} {place}",
                "asked_at": begins[1],
                "place": "home",
                "playing": None,
                "relevant": [] if kind == "no_tool" else relevant,
            }
        )
    return {"requests": made}


def toolbox(prompt: str) -> dict[str, Any]:
    app = re.search(r'application\n"(\w+)"', prompt)
    assert app is not None
    name = app[1]

    def api(verb: str, effect: str, does: str, *arguments: str) -> dict[str, Any]:
        called = f"{verb}_{name}"
        return {
            "api": called,
            "description": f"{name.capitalize()} app's {called} API is used to {verb} {name}.",
            "effect": effect,
            "does": does,
            "arguments": [
                {
                    "name": one,
                    "type": "string",
                    "match": "value",
                    "required": True,
                    "description": f"the {one}",
                }
                for one in arguments
            ],
            "fails_when": "never",
        }

    return {
        "apis": [
            api("search", "read", "find", "query"),
            api("read", "read", "find", "title"),
            api("delete", "write", "remove", "title"),
            api("list", "read", "find"),
        ]
    }


@pytest.fixture
def through_model(model: Model, configure: Callable[..., None]) -> Model:
    """Settings that point to the fake model."""
    configure(
        openai_base_url=model.url,
        openai_model="toy",
        openai_api_key=KEY,
        openai_timeout=5,
        openai_price_prompt=1,
        openai_price_completion=2,
    )
    return model


@pytest.fixture
def opened(through_model: Model, tmp_path: Path) -> Callable[..., OpenAIProvider]:
    """`opened(max_cost=…)`: a new provider on the same cache."""

    def open_(
        max_cost: float | None = None, prompts: Path | None = None, cache: str = "answers"
    ) -> OpenAIProvider:
        options = settings()
        asker = open_asker(options, tmp_path / cache, prompts, max_cost)
        workers = options.openai_concurrency
        return OpenAIProvider(asker, packaged_apps(), Toolbox.packaged(), workers)

    return open_
