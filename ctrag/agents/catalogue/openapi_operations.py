"""What a call of an OpenAPI operation needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ctrag.agents.catalogue.tool import CatalogueTool

Place = Literal["path", "query", "header", "cookie", "body", "whole body"]


@dataclass(frozen=True, slots=True)
class Argument:
    """Where an argument of a tool goes."""

    name: str
    """Its name in the API."""
    place: Place
    style: str = ""
    explode: bool = True
    json: bool = False
    """Whether its value is written as JSON."""
    file: bool = False
    """Whether it is a file, or a list of them, of a multipart body."""
    content_type: str = ""
    """Of its part of a multipart body, where the document says one."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A security scheme or a parameter that holds a secret."""

    name: str
    """As the document names it."""
    kind: Literal["header", "query", "cookie", "bearer", "basic"]
    parameter: str = ""
    """The header, query or cookie parameter that takes it."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What a call of one tool needs."""

    method: str
    path: str
    address: str
    """Base URL; empty or without a host where the document does not say it."""
    arguments: Mapping[str, Argument]
    """By the tool's name of each."""
    content_type: str
    """Of the body; empty where there is none."""
    security: tuple[tuple[Credential, ...], ...]
    """Alternatives; each needs all of its credentials. Empty: none is needed."""
    body_required: bool = False
    """Whether a body must be sent even if it has nothing in it."""
    open_body: bool = False
    """Whether the body takes further fields than those that are arguments."""


@dataclass(frozen=True, slots=True)
class OpenApi:
    """A document's tools and how each is called."""

    server: str
    tools: list[CatalogueTool]
    operations: Mapping[str, Operation]
    """By the tool's name."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """What was left out or named otherwise, and why; by operation."""
