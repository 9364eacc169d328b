"""What tests of several packages share: folders of their own, models loaded once, an endpoint."""

import json
import os
import shutil
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from ctrag.settings import cache_folder
from tests.shared_models import (  # noqa: F401
    encoded_once,
    encoding_anew,
    opened_once,
    slots_filled_once,
)

ROOT = Path(__file__).parents[1]
KEY = "sk-canary-4711-do-not-print"
CONVERTED = cache_folder() / "models"
"""Of the developer: looked up before tests get folders of their own."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever opens the language model is marked `model`, tests of trainers `training`."""
    for item in items:
        if "converted_planner" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.model)
        if item.path.name.startswith("test_train_"):
            item.add_marker(pytest.mark.training)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test sees the developer's stores, cache or settings."""
    from ctrag.settings import settings

    for name in [name for name in os.environ if name.startswith(("CTRAG_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CTRAG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CTRAG_CACHE", str(tmp_path / "cache"))
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.fixture(autouse=True, scope="session")
def no_notes_on_long_work() -> None:
    """They come when the machine is slow, and tests say exactly what a command writes."""
    from ctrag.cli import output

    output._noted = float("inf")


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`configure(items=3)`: settings of this test, as the environment would give them."""
    from ctrag.settings import settings

    def set_all(**values: object) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"CTRAG_{name.upper()}", str(value))
        settings.cache_clear()

    return set_all


@pytest.fixture(scope="session")
def converted_planner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder that holds the converted planner; the GGUF is read once for all workers, and
    not at all where the developer's cache has it converted (`make install` leaves it there)."""
    import ctrag.models.lm_weights as weights
    from ctrag.models import packages

    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    own = tmp_path_factory.getbasetemp()
    cache = (own.parent if worker else own) / "planner-cache"
    (cache / "users").mkdir(parents=True, exist_ok=True)
    user = cache / "users" / (worker or "only")
    patch = pytest.MonkeyPatch()
    patch.setattr(weights, "cache_folder", lambda: cache)
    try:
        with FileLock(cache / "lock"):
            user.touch()
            [packed] = packages.find(packages.PLANNER).glob("*.gguf")
            made, own_copy = CONVERTED / packed.stem, cache / "models" / packed.stem
            if (made / weights.READY).exists() and not own_copy.exists():
                own_copy.parent.mkdir()
                own_copy.symlink_to(made)
            weights.planner_folder()
    finally:
        patch.undo()
    yield cache
    with FileLock(cache / "lock"):
        user.unlink()
        if not any((cache / "users").iterdir()):
            shutil.rmtree(cache / "models", ignore_errors=True)  # half a gigabyte


@pytest.fixture(scope="session")
def planner(converted_planner: Path) -> Any:
    """The embedded planner with its real model, on one thread, loaded once per session."""
    import torch

    from ctrag.assistant.planning.embedded import EmbeddedPlanner

    [folder] = (converted_planner / "models").iterdir()
    loaded = EmbeddedPlanner(str(folder), threads=1)
    loaded.count_tokens("warm")
    torch.set_num_threads(1)
    return loaded


@pytest.fixture
def with_planner(converted_planner: Path, tmp_path: Path) -> Path:
    """This test's cache folder has the converted planner in it."""
    cache = tmp_path / "cache"
    cache.mkdir(exist_ok=True)  # another fixture may have filled it
    (cache / "models").symlink_to(converted_planner / "models")
    return cache


@dataclass
class Endpoint:
    """A chat-completions server on this machine; `answers` are given in order, the last for ever."""

    url: str = ""
    answers: list[Any] = field(default_factory=lambda: ["none()"])
    """A text is a plan; (status, headers, body) is sent as it is; a number of seconds is slept."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def next(self) -> Any:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def asked(self, number: int = -1) -> str:
        """All that the model was told in a request."""
        return "\n".join(one["content"] for one in self.requests[number]["messages"])


class Replying(BaseHTTPRequestHandler):
    """Hands the posted JSON to `answer`; logs nothing."""

    def do_POST(self) -> None:
        self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def answer(self, question: dict[str, Any]) -> None:
        raise NotImplementedError

    def send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serving(
    served: Any, handler: type[Replying], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A real HTTP server at `served.url` until `served.stop` is set at the end; the client's
    retries wait a hundredth of a second at most."""
    import openai._base_client as client

    monkeypatch.setattr(client, "MAX_RETRY_DELAY", 0.01)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    served.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield
    served.stop.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    served = Endpoint()

    class Handler(Replying):
        def answer(self, question: dict[str, Any]) -> None:
            served.requests.append(question)
            served.headers.append({name.lower(): value for name, value in self.headers.items()})
            answer = served.next()
            if isinstance(answer, float):
                served.stop.wait(answer)
                return
            self.send(*(answer if isinstance(answer, tuple) else chat(answer)))

    with serving(served, Handler, monkeypatch):
        yield served


def chat(text: str | None) -> tuple[int, dict[str, str], bytes]:
    """A chat completion that says `text`."""
    body = {
        "id": "c1",
        "object": "chat.completion",
        "created": 0,
        "model": "toy",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107},
    }
    return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


@pytest.fixture
def through_endpoint(endpoint: Endpoint, configure: Callable[..., None]) -> Endpoint:
    """The settings name the endpoint: `--planner openai` answers what the test wants.

    All tools are exposed, so that no test hangs on which ones a request finds.
    """
    configure(
        openai_base_url=endpoint.url,
        openai_model="toy",
        openai_api_key=KEY,
        tools=59,
        prompt_budget=5000,
    )
    return endpoint


@pytest.fixture(scope="session")
def api_key() -> str:
    """The key that `through_endpoint` sets and that no output may show."""
    return KEY


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """`process(code)`: Python code in a process of its own, with this test's folders."""

    def run(
        code: str, *arguments: str, said: str = "", **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            input=said,
            capture_output=True,
            text=True,
            timeout=300,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        )

    return run


CITIES = "Rome Oslo Lima Quito Delhi Cairo Turin Split Genoa Porto".split()
PEOPLE = "Ada Omar Lupita Jun Noor Ines Tariq Mila Piet Rosa".split()
CHAINS = {
    "Find a flight to {city} and book it": "search_flight book_flight",
    "Find a flight to {city}, book it and mail {person} the ticket": (
        "search_flight book_flight find_contact send_mail"
    ),
    "Wake me at {hour}": "set_alarm",
    "Cancel the alarm at {hour} and wake me an hour later": "cancel_alarm set_alarm",
    "Mail {person} that I am late": "find_contact send_mail",
    "Write a note for {person} about {city} and delete the old one": "write_file delete_file",
    "Pay for the flight to {city} that I booked, then mail {person}": (
        "pay_flight find_contact send_mail"
    ),
    "Delete the note about {city}": "delete_file",
}
TOOLS = {
    "search_flight": "Search flights between cities",
    "book_flight": "Book a flight",
    "pay_flight": "Pay for a booked flight",
    "find_contact": "Find a person in the contacts",
    "send_mail": "Send a mail to a person",
    "set_alarm": "Set an alarm that wakes somebody",
    "cancel_alarm": "Cancel an alarm",
    "write_file": "Write a note or file",
    "delete_file": "Delete a note or file",
    "weather_report": "Weather forecast: temperature, rain and wind of a place",
}


class WordBins:
    """Words thrown into bins: texts with the same words are near each other."""

    name = "word-bins"
    dimension = 48

    def encode(self, texts: Any) -> Any:
        import numpy as np

        from ctrag.text.words import terms

        rows = np.full((len(texts), self.dimension), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms(text):
                row[zlib.crc32(term.encode()) % self.dimension] += 1
            row /= np.linalg.norm(row)
        return rows


@pytest.fixture(scope="session")
def word_bins() -> WordBins:
    return WordBins()


@pytest.fixture(scope="session")
def chains(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eighty requests of eight kinds with the tools they call, and a tool that none calls."""
    folder = tmp_path_factory.mktemp("chains")
    rows = []
    for number in range(10):
        fill = {"city": CITIES[number], "person": PEOPLE[number], "hour": f"{number + 5} o'clock"}
        for kind, (text, tools) in enumerate(CHAINS.items()):
            query = {"query_id": f"{kind}-{number}", "text": text.format(**fill)}
            rows.append(json.dumps({**query, "tools": tools.split()}))
    (folder / "queries.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    catalogue = [{"name": name, "description": text} for name, text in TOOLS.items()]
    (folder / "tools.json").write_text(json.dumps(catalogue), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def fit_chains(chains: Path, word_bins: WordBins) -> Callable[..., Any]:
    """`fit_chains(demonstrations, **settings)`: a model with the catalogue of `chains`."""
    from ctrag.agents.catalogue.tool import load_catalogue
    from training.next_tool.settings import DependencySettings
    from training.next_tool.train import fit_next_tool

    tools = load_catalogue(chains / "tools.json")
    source = {"command": "-", "data": "chains", "data_sha256": "-"}

    def fit(demonstrations: Any, **changes: Any) -> Any:
        settings = DependencySettings(**{"trees": 40, "smallest": 10, **changes})
        return fit_next_tool(demonstrations, tools, word_bins, settings, source)

    return fit


@pytest.fixture(scope="session")
def next_tool(chains: Path, fit_chains: Callable[..., Any]) -> Any:
    """A model of all but the held-out chains."""
    from ctrag.agents.next_tool import load_demonstrations
    from ctrag.agents.next_tool.held_out import split_held_out

    return fit_chains(split_held_out(load_demonstrations(chains))[0])


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of two layers with random weights that reads bytes: everything a model needs."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("tiny-llama")
    signs = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "<end>"]
    tokenizer = Tokenizer(models.BPE(vocab=dict(zip(signs, range(257), strict=True)), merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=257,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        initializer_range=0.2,
        bos_token_id=256,
        eos_token_id=256,
        pad_token_id=256,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():  # half precision, as a graph's embeddings are
        model.model.embed_tokens.weight.copy_(model.model.embed_tokens.weight.half().float())
    model.save_pretrained(folder)
    return folder
