"""The grammar of values that a tool's JSON Schema and a request allow.

Values are grounded where a type lets them be: a string is a run of the request's words
(`ctrag.agents.calls.spans`), a number one that the request names; enums and booleans are the
schema's own. A number that is needed and not named stays open. An optional argument has to be
spoken of: its name or one of its enum's values is said, or a text is quoted, a name or an id.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ctrag.agents.calls.spans import hollow, names, spans
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.text.lark import literal, spelled

LONGEST_LIST = 8
MOST_VALUES = 500
"""Values of an enum at most: the grammar's engine takes 2,000 alternatives."""
LONGEST_VALUE = 300
"""Characters of an enum's value, of an argument's name and of a tool's id at most."""
LONGEST_NUMBER = 24
"""Characters of a number at most; what is longer is no quantity."""
_DEEPEST = 3
"""Levels of objects inside arguments; what is deeper becomes an empty object."""
_TYPES = {"dict": "object", "float": "number", "tuple": "array", "list": "array", "str": "string",
          "int": "integer", "bool": "boolean"}  # fmt: skip
"""Other catalogues' names of JSON Schema's types."""
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?")
_WORDS = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve".split(),
        range(13),
        strict=True,
    )
)
_UNSPEAKABLE = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\s]+')
_OPEN = """
INTEGER: /-?(0|[1-9][0-9]{0,8})/
NUMBER: /-?(0|[1-9][0-9]{0,8})(\\.[0-9]{1,6})?/
COPIED: RUN & /[^ .,;:!?](.{0,158}[^ .,;:!?])?/
"""


def call_opening(tool: CatalogueTool) -> str:
    """The prefix of every call of the tool."""
    return f'{{"name": {spelled(tool.id)}, "arguments": {{'


def numbers_in(text: str) -> list[float]:
    """Numbers that a text names in digits or, up to twelve, in words; in its order, each once."""
    found: list[tuple[int, float]] = []
    for match in NUMBER.finditer(text):
        if len(match[0]) <= LONGEST_NUMBER:
            found.append((match.start(), float(match[0].replace(",", ""))))
    for match in re.finditer(r"[a-z]+", text.lower()):
        if match[0] in _WORDS:
            found.append((match.start(), float(_WORDS[match[0]])))
    return list(dict.fromkeys(value for _, value in sorted(found)))


def copyable(text: str) -> str:
    """The text as values are copied from it: on one line, without characters that JSON escapes."""
    return _UNSPEAKABLE.sub(" ", text).strip()


class ArgumentRules:
    """Collects rules; each method adds some and returns an expression that refers to them."""

    def __init__(self, source: str, rest: str) -> None:
        """Values come from the `rest` of the `source` text; where that has none, from all of it."""
        self._source = copyable(source)
        self._numbers = numbers_in(rest)
        self._all_numbers = numbers_in(source)
        self._words = {_stem(word) for word in re.findall(r"[^\W_]+", source.lower())}
        self._spans = _copyable(spans(rest))
        self._all_spans = self._spans or _copyable(spans(source))
        self._names = _copyable(names(rest))
        self._rules: list[str] = []

    def lark(self, body: str) -> str:
        """The grammar whose answers are `body`, with all rules that it needs."""
        start = f"start: {body}"
        run = json.dumps({"substring_words": self._source}, ensure_ascii=False)
        return "\n".join([start, *self._rules, _OPEN, f"RUN: %regex {run}"])

    def _members(self, schema: Mapping[str, Any], depth: int) -> str:
        """`"a": value, "b": value` in the schema's order, optional ones with their comma."""
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        needed = schema.get("required")
        needed = set(needed) if isinstance(needed, Sequence) else set()
        pairs: list[tuple[str, bool]] = []
        for name, given in properties.items():
            schema_of = given if isinstance(given, Mapping) else {}
            value = self.value(str(name), schema_of, name in needed, depth)
            if value is not None:
                said = spelled(name)
                pairs.append((f"{literal(f'{said}: ')} {value}", name in needed))
        # `first`: nothing is written yet; `next`: a comma comes before what follows.
        first = after = '""'
        for pair, is_needed in reversed(pairs):
            written = f"{pair} {after}"
            first, after = (
                self._rule(written if is_needed else f"({written}) | {first}"),
                self._rule(f'", " {written}' if is_needed else f'(", " {written}) | {after}'),
            )
        return first

    def value(
        self, name: str, schema: Mapping[str, Any], needed: bool, depth: int = 0
    ) -> str | None:
        """Rule of a value; None where it is optional and nothing grounds it."""
        mentioned = self._mentions(name)
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self._listed(schema["enum"], needed)
        kind = _type_of(schema)
        if kind == "boolean":
            return self._one_of(["true", "false"]) if needed or mentioned else None
        if kind in ("integer", "number"):
            return self._number(kind, needed)
        if kind == "array":
            return self._array(name, schema, needed, depth)
        if kind == "object":
            inner = self._members(schema, depth + 1) if depth < _DEEPEST else '""'
            return self._rule(f'"{{" {inner} "}}"')
        if not re.search(r"\w", self._source):
            return literal('""') if needed else None
        values = self._all_spans if needed else self._spans if mentioned else self._names
        if values:
            return self._one_of([spelled(one) for one in values])
        return self._rule(r'"\"" COPIED "\""') if needed else None

    def _listed(self, values: Sequence[Any], needed: bool) -> str | None:
        """Rule of one of an enum's values; of too many, those that the request mentions and the
        first ones. Values that no answer could hold are left out."""
        written = {text: one for one in values if len(text := spelled(one)) <= LONGEST_VALUE}
        chosen = list(written)
        if not needed or len(chosen) > MOST_VALUES:
            said = [text for text, one in written.items() if self._mentions(str(one))]
            chosen = list(dict.fromkeys([*said, *chosen])) if needed else said
        return self._one_of(chosen[:MOST_VALUES]) if chosen else None

    def _mentions(self, name: str) -> bool:
        """Whether the request has a word of an argument's name or of one of its values."""
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)
        words = {_stem(part.lower()) for part in parts if len(part) > 2 and not hollow(part)}
        return not words.isdisjoint(self._words)

    def _number(self, kind: str, needed: bool) -> str | None:
        named = [one for one in self._numbers if kind == "number" or one == int(one)]
        if needed and not named:
            named = [one for one in self._all_numbers if kind == "number" or one == int(one)]
        if named:
            return self._one_of([_digits_of(one) for one in named])
        return kind.upper() if needed else None

    def _array(self, name: str, schema: Mapping[str, Any], needed: bool, depth: int) -> str | None:
        items = schema.get("items")
        one = self.value(name, items if isinstance(items, Mapping) else {}, needed, depth + 1)
        if one is None:
            return None
        return self._rule(f'"[" {one} (", " {one}){{0,{LONGEST_LIST - 1}}} "]"')

    def texts(self, values: Sequence[str]) -> str | None:
        """Rule of a string that is one of several runs; None where none of them can be copied."""
        runs = [spelled(one) for one in _copyable(values)]
        return self._one_of(runs) if runs else None

    def _one_of(self, written: Sequence[str]) -> str:
        return self._rule(" | ".join(literal(one) for one in written))

    def _rule(self, body: str) -> str:
        name = f"r{len(self._rules)}"
        self._rules.append(f"{name}: {body}")
        return name


def _type_of(schema: Mapping[str, Any]) -> str:
    """JSON Schema's name of the type; the first one that is not null where there are several."""
    declared = schema.get("type", "string")
    if isinstance(declared, list):
        declared = next((one for one in declared if one != "null"), "string")
    return _TYPES.get(str(declared), str(declared))


def number_words(value: float) -> list[str]:
    """Words that say a number."""
    return [word for word, number in _WORDS.items() if number == value]


def _copyable(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(copyable, values))))


def _stem(word: str) -> str:
    """Singular and plural alike."""
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def _digits_of(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)
