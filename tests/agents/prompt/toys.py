"""Toys with meaning: one dimension a topic, so that cosines can be worked out by hand."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import numpy as np

from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.prompt.assembly import Prompt
from ctrag.agents.prompt.builder import PromptBuilder
from ctrag.agents.prompt.forms import Form
from ctrag.agents.prompt.fragments import Fragment
from ctrag.agents.prompt.reranker import HybridWeights, Reranker, RerankerCard, load_cross_encoder
from ctrag.agents.prompt.tool_documents import ToolDocument, make_documents
from ctrag.models.encoder import Matrix

TOPICS = ("order", "cancel", "return", "address", "flight", "refund")
FORMS: tuple[Form, ...] = get_args(Form)


def count_words(text: str) -> int:
    """A tokenizer that a reader can redo: one token a word."""
    return len(text.split())


class TopicEncoder:
    """Counts how often it is asked."""

    name = "topics"

    def __init__(self) -> None:
        self.encoded_texts: list[str] = []

    def encode(self, text: str) -> Matrix:
        self.encoded_texts.append(text)
        row = np.array([word in text.lower() for word in TOPICS], np.float32)
        unit = row / max(float(np.linalg.norm(row)), 1e-9)
        return np.asarray(unit, dtype=np.float32)


class FailingEncoder:
    """An encoder that breaks when it is asked for a request."""

    name = "failing"

    def __init__(self) -> None:
        self.failing = False
        self.calls = 0
        self._good = TopicEncoder()

    def encode(self, text: str) -> Matrix:
        if self.failing:
            self.calls += 1
            raise RuntimeError("the encoder is gone")
        return self._good.encode(text)


def card() -> RerankerCard:
    weights = HybridWeights(cosine=4.0, lexical=1.0)
    return RerankerCard(
        command="none",
        with_cross=weights,
        without_cross=weights,
        sufficiency=(1.0, 0.0),
        settings={},
        data="none",
        data_sha256="",
        seed=0,
        figures={},
        versions={},
    )


def tiny_cross_encoder(folder: Path) -> Any:
    """A `CrossEncoder` of one layer that scores all pairs 7, kept in `folder`."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    from ctrag.models import packages
    from ctrag.models.weights import encoder_folder

    tokenizer = AutoTokenizer.from_pretrained(encoder_folder(packages.ENCODER))
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    model = BertForSequenceClassification(
        BertConfig(vocab_size=len(tokenizer), intermediate_size=8, num_labels=1, **sizes)
    )
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.fill_(7.0)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_cross_encoder(str(folder))


def fragment(name: str, text: str, priority: int = 0, place: int = 0) -> Fragment:
    domain = name.partition("#")[0]
    return Fragment(name, text, name, domain, "policy", priority, place, count_words(text))


FRAGMENTS = [
    fragment("shop#orders", "An order is pending or delivered. " * 5, place=0),
    fragment("shop#cancel", "Cancel an order only while it is pending. " * 4, place=1),
    fragment("shop#return", "Return an order only once it is delivered. " * 4, place=2),
    fragment("air#flight", "A flight cannot be changed after it has left. " * 4, place=0),
]

TOOLS: list[ToolDocument] = make_documents(
    [
        CatalogueTool(name, description, server, {"type": "object", "properties": {}})
        for name, description, server in [
            ("cancel_order", "Cancel a pending order", "shop"),
            ("return_order", "Return a delivered order for a refund", "shop"),
            ("change_address", "Change the address of an order", "shop"),
            ("book_flight", "Book a flight", "air"),
            ("transfer", "Hand over to a person", "shop"),
        ]
    ],
    {},
    count_words,
)


def builder(**options: object) -> PromptBuilder:
    """A builder over the toys; options go to `PromptBuilder`."""
    given = {"encoder": TopicEncoder(), "reranker": Reranker(card()), "count": count_words}
    fragments, tools = options.pop("fragments", FRAGMENTS), options.pop("tools", TOOLS)
    return PromptBuilder(fragments, tools, **{**given, **options})  # type: ignore[arg-type]


def count_pieces(text: str) -> int:
    """Words and signs: JSON without blanks is no single token."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def in_form(prompt: Prompt) -> tuple[str, int]:
    """The system text that goes out, and the tokens of all that goes out but the request."""
    if prompt.form == "text":
        return prompt.text, count_pieces(prompt.text)
    if prompt.form == "openai":
        openai = prompt.openai()
        system, tools = openai["messages"][0]["content"], openai.get("tools", [])
    else:
        anthropic = prompt.anthropic()
        system, tools = anthropic["system"], anthropic["tools"]
    compact = json.dumps(tools, separators=(",", ":"), ensure_ascii=False)
    return system, count_pieces(system) + count_pieces(compact)


class Flights:
    """A next-tool model that foretells a flight, whatever was called, unless it is made to say other things."""

    def __init__(self, *ranked: tuple[str, float]) -> None:
        self._ranked = list(ranked or [("air/book_flight", 1.0)])

    def rank(self, text: str, history: object) -> list[tuple[str, float]]:
        return self._ranked
