"""What a parser is to the fuzzer."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctrag.errors import CtragError

REFUSALS: tuple[type[Exception], ...] = (CtragError,)


@dataclass(frozen=True)
class Target:
    """One parser.

    Attributes:
        seeds: Inputs that it reads.
        run: Parses an input; the folder is empty but for what earlier inputs left.
    """

    seeds: tuple[bytes, ...]
    run: Callable[[bytes, Path], object]


def as_json(value: Any) -> bytes:
    """A seed of JSON, over several lines."""
    return json.dumps(value, indent=1).encode()
