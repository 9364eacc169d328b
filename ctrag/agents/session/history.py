"""A conversation cut to a budget so that no tool result loses its call.

Reads chat-completions messages (`tool_calls`, `role: tool`), messages of content blocks
(`tool_use`, `tool_result`) and items of the Responses API (`function_call`,
`function_call_output`). Messages of other forms are counted, not paired.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctrag.agents.session.tokens import CHARACTERS_PER_TOKEN, characters
from ctrag.errors import InputError
from ctrag.models.tokens import CountTokens

Message = Mapping[str, Any]
_SYSTEM = {"system", "developer"}
_PER_MESSAGE = 4
"""Approximate tokens of the delimiters of a message."""
_PER_IMAGE = 1_000
"""Approximate tokens of an image, recording or file, whose bytes do not determine them."""
_FILES = frozenset({"file", "input_file", "document", "audio", "input_audio"})
_PAYLOADS = ("tool_calls", "function_call", "arguments", "output", "parts")
"""Fields besides the content that a model reads."""
_SHORTEST = 64 * CHARACTERS_PER_TOKEN
"""Minimum characters kept of a shortened tool result."""


@dataclass(frozen=True, slots=True)
class FittedHistory:
    """What is left of a conversation, in order."""

    messages: list[Message]
    dropped: int
    """Messages left out."""
    shortened: int
    """Messages whose tool results were cut, because the mandatory messages were too long."""
    tokens: int
    fits: bool
    """Whether it is within the budget."""


def history_tokens(messages: Sequence[Message], count: CountTokens = characters) -> int:
    """Cost of messages."""
    return sum(_PER_MESSAGE + sum(_costs(message, count)) for message in messages)


def fit_history(
    messages: Sequence[Message], budget: int, count: CountTokens = characters
) -> FittedHistory:
    """The newest part of a conversation that costs no more than `budget` tokens.

    System messages, the user's last request and the last exchange are always kept. A call and its
    results are kept or dropped together, with the messages between them; results without a call
    are always dropped. If the mandatory messages are too long, their tool results are cut, the
    longest first.

    Raises:
        ValueError: The budget is negative.
    """
    if budget < 0:
        raise InputError(f"budget: must not be negative, not {budget}")
    paired = _without_orphans(messages)
    kept = _newest(paired, budget, count)
    left, shortened = _shorten(kept, budget, count)
    tokens = history_tokens(left, count)
    return FittedHistory(left, len(messages) - len(left), shortened, tokens, tokens <= budget)


def _costs(message: Message, count: CountTokens) -> Iterator[int]:
    for block in _blocks_of(message):
        yield from _block_costs(block, count)
    for field in _PAYLOADS:
        value = message.get(field)
        if field in ("output", "parts") and isinstance(value, list):
            for block in value:
                if isinstance(block, Mapping):
                    yield from _block_costs(block, count)
        elif value:
            yield count(_as_text(value))


def _block_costs(block: Mapping[str, Any], count: CountTokens) -> Iterator[int]:
    kind = str(block.get("type"))
    source = block.get("source")
    written = isinstance(source, Mapping) and source.get("type") == "text"
    inline = "inlineData" in block or "inline_data" in block
    if "image" in kind or inline or (kind in _FILES and not written):
        yield _PER_IMAGE
    elif isinstance(block.get("text"), str):
        yield count(block["text"])
    elif kind == "tool_result" and isinstance(block.get("content"), list):
        inner = [one for one in block["content"] if isinstance(one, Mapping)]
        yield count(_as_text({**block, "content": []}))
        for one in inner:
            yield from _block_costs(one, count)
    else:
        yield count(_as_text(block))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _blocks_of(message: Message) -> list[Mapping[str, Any]]:
    """A message's content as blocks; plain text is one block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [one for one in content or () if isinstance(one, Mapping)]


def _calls(message: Message) -> set[str]:
    """Ids of the calls that a message makes."""
    if message.get("type") == "function_call":
        return {str(message.get("call_id"))}
    ids = {str(one.get("id")) for one in message.get("tool_calls") or ()}
    return ids | {
        str(one.get("id")) for one in _blocks_of(message) if one.get("type") == "tool_use"
    }


def _answers(message: Message) -> set[str]:
    """Ids of the calls whose results a message contains."""
    if message.get("role") == "tool":
        return {str(message.get("tool_call_id"))}
    if _is_output(message):
        return {str(message.get("call_id"))}
    return {
        str(one.get("tool_use_id"))
        for one in _blocks_of(message)
        if one.get("type") == "tool_result"
    }


def _is_output(message: Message) -> bool:
    return message.get("type") == "function_call_output"


def _is_request(message: Message) -> bool:
    return message.get("role") == "user" and not _answers(message)


def _without_orphans(messages: Sequence[Message]) -> list[Message]:
    """The messages without orphaned results, whose call is missing."""
    called: set[str] = set()
    paired: list[Message] = []
    for message in messages:
        orphaned = _answers(message) - called
        called |= _calls(message)
        if not orphaned:
            paired.append(message)
        elif message.get("role") != "tool" and not _is_output(message):
            blocks = _blocks_of(message)
            content = [one for one in blocks if one.get("tool_use_id") not in orphaned]
            if content:
                paired.append({**message, "content": content})
    return paired


def _exchanges(messages: Sequence[Message]) -> list[range]:
    """Runs of messages kept or dropped together: from a call to its last result."""
    called: dict[str, int] = {}
    runs: list[range] = []
    for row, message in enumerate(messages):
        first = min((called.get(one, row) for one in _answers(message)), default=row)
        while runs and runs[-1].stop > first:
            first = min(first, runs.pop().start)
        runs.append(range(first, row + 1))
        called |= dict.fromkeys(_calls(message), row)
    return runs


def _newest(messages: Sequence[Message], budget: int, count: CountTokens) -> list[Message]:
    """The mandatory messages, and as many of the latest other exchanges as there is room for."""
    costs = [history_tokens([message], count) for message in messages]
    if sum(costs) <= budget:
        return list(messages)
    runs = _exchanges(messages)
    requests = [row for row, message in enumerate(messages) if _is_request(message)]
    must = {row for row, one in enumerate(messages) if one.get("role") in _SYSTEM}
    for run in runs:
        if run == runs[-1] or (requests and requests[-1] in run):
            must.update(run)
    spent = sum(costs[row] for row in must)
    taken: list[range] = []
    for run in reversed([run for run in runs if not must.issuperset(run)]):
        spent += sum(costs[row] for row in run if row not in must)
        if spent > budget:
            break
        taken.append(run)
    while taken and not _begins_with_request(messages, must.union(*taken)):
        taken.pop()
    return [messages[row] for row in sorted(must.union(*taken))]


def _begins_with_request(messages: Sequence[Message], rows: set[int]) -> bool:
    """Whether a request comes first after system messages, as endpoints require."""
    others = [messages[row] for row in sorted(rows) if messages[row].get("role") not in _SYSTEM]
    return _is_request(others[0]) or not any(_is_request(message) for message in others)


def _shorten(messages: list[Message], budget: int, count: CountTokens) -> tuple[list[Message], int]:
    """Cut all tool results to the greatest length that fits; also how many messages were cut."""

    def cut_to(length: int) -> list[Message]:
        return [_cut(message, length) for message in messages]

    if history_tokens(messages, count) <= budget:
        return messages, 0
    low, high = _SHORTEST, max(map(_longest_result, messages), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        fits = history_tokens(cut_to(middle), count) <= budget
        low, high = (middle, high) if fits else (low, middle - 1)
    left = cut_to(low)
    return left, sum(one is not other for one, other in zip(left, messages, strict=True))


def _cut(message: Message, length: int) -> Message:
    """The message with its tool results cut to a length; itself if none is longer."""
    if _longest_result(message) <= length:
        return message

    def shorter(text: str) -> str:
        gone = len(text) - length
        return text if gone <= 0 else f"{text[:length]} [{gone} characters left out]"

    return _with_results(message, shorter)


def _longest_result(message: Message) -> int:
    longest = 0

    def measure(text: str) -> str:
        nonlocal longest
        longest = max(longest, len(text))
        return text

    if _answers(message):
        _with_results(message, measure)
    return longest


def _with_results(message: Message, change: Callable[[str], str]) -> Message:
    """The message with every text of its tool results changed."""

    def changed(content: Any) -> Any:
        if isinstance(content, str):
            return change(content)
        return [
            {**one, "text": change(one["text"])} if isinstance(one.get("text"), str) else one
            for one in content or ()
        ]

    if message.get("role") == "tool":
        return {**message, "content": changed(message.get("content"))}
    if _is_output(message):
        return {**message, "output": changed(message.get("output"))}
    content = [
        {**one, "content": changed(one.get("content"))} if one.get("type") == "tool_result" else one
        for one in _blocks_of(message)
    ]
    return {**message, "content": content}
