"""What tests of several packages share: folders of their own, models loaded once, an endpoint."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
KEY = "sk-canary-4711-do-not-print"


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
    """A cache folder that holds the converted planner; the GGUF is read once per session."""
    import ctrag.planner.weights as weights

    cache = tmp_path_factory.mktemp("planner-cache")
    patch = pytest.MonkeyPatch()
    patch.setattr(weights, "cache_folder", lambda: cache)
    try:
        weights.planner_folder()
    finally:
        patch.undo()
    yield cache
    shutil.rmtree(cache, ignore_errors=True)  # half a gigabyte


@pytest.fixture(scope="session")
def planner(converted_planner: Path) -> Any:
    """The embedded planner with its real model, on one thread, loaded once per session."""
    import torch

    from ctrag.planner.embedded import EmbeddedPlanner

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


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """A real HTTP server; retries wait a hundredth of a second at most."""
    import openai._base_client as client

    monkeypatch.setattr(client, "MAX_RETRY_DELAY", 0.01)
    served = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            served.requests.append(json.loads(self.rfile.read(length)))
            served.headers.append({name.lower(): value for name, value in self.headers.items()})
            answer = served.next()
            if isinstance(answer, float):
                served.stop.wait(answer)
                return
            status, headers, body = answer if isinstance(answer, tuple) else chat(answer)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield served
    served.stop.set()
    server.shutdown()
    server.server_close()
    thread.join()


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
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "PYTHONDONTWRITEBYTECODE": "1",
                **environment,
            },
        )

    return run


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
