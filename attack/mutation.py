"""Changes of inputs: of their bytes, of their lines, and of the values of JSON."""

import json
import random
from typing import Any

PIECES = (
    *(b"\x00", b"\x1b]52;c;x\x07", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xc2\x9b"),
    *(b"9" * 400, b"-1", b"1e400", b"0", b"00010101", b"99991231T235959", b"9999-12-31T23:59"),
    *(b"[" * 300, b"{" * 300, b"(" * 300, b'{"a":' * 300, b" " * 500, b"\n", b'"', b"'", b"\\"),
    *(b"\\ud800", b"null", b"true", b"[]", b"{}", b"&a ", b"*a", b"{title:>999999999}", b"{0}"),
    *(b"$ref", b"#/x", b"enum", b"type", b"RRULE:FREQ=SECONDLY", b"EXDATE:", b"DTSTART:"),
    *(b"=?x?q?", b"charset=unicode_escape", b"BEGIN:VEVENT\r\n", b"END:VCARD\r\n", b"From "),
    *(b"--b", b":", b";", b"2025-02-30", b"nan", b"Infinity", b"<!DOCTYPE a [", b"\xfe\xff"),
    *(b"http://[", b"../", b"~nobody/", b"\xcc\x81" * 200, b"\xe3\x85\xa4"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**400, 1.5, "", [], {}, "x" * 5000, "\x1b\u202e\x9b", "a\ud800"),
    *(["a", 1], {"type": "string"}, {"$ref": "#"}, {"$ref": "#/x/y"}, {"enum": [None, {}]}, "\n"),
    *({"type": ["x", 1]}, {"properties": []}, {"items": [{}]}, [[[[[]]]]], "a/b", "*", "."),
)
LONGEST = 20_000
"""Bytes of an input at most."""


def mutated(seeds: tuple[bytes, ...], chance: random.Random) -> bytes:
    """One of the seeds with a few changes."""
    seed = chance.choice(seeds)
    if chance.random() < 0.6:
        try:
            value = json.loads(seed)
        except ValueError:
            pass
        else:
            for _ in range(chance.randrange(1, 4)):
                value = _changed(value, chance)
            return json.dumps(value).encode()
    made = bytearray(seed)
    for _ in range(chance.randrange(1, 5)):
        made = _edited(made, seeds, chance)
    return bytes(made[:LONGEST])


def _changed(value: Any, chance: random.Random) -> Any:
    """A JSON value with one of its parts replaced, left out or doubled."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.15:
        return chance.choice(VALUES)
    if isinstance(value, list):
        at = chance.randrange(len(value))
        inner = [] if chance.random() < 0.2 else [_changed(value[at], chance)]
        return [*value[:at], *inner, *value[at + chance.choice((0, 1, 1, 1)) :]]
    name = chance.choice(list(value))
    rest = {key: one for key, one in value.items() if key != name}
    if chance.random() < 0.2:
        return rest
    if chance.random() < 0.2:
        return {**rest, str(chance.choice(VALUES)): value[name]}
    return {**value, name: _changed(value[name], chance)}


def _edited(made: bytearray, seeds: tuple[bytes, ...], chance: random.Random) -> bytearray:
    at = chance.randrange(len(made) + 1)
    end = min(len(made), at + chance.choice((1, 2, 8, 40)))
    how = chance.randrange(6)
    if how == 0:
        made[at:at] = chance.choice(PIECES)
    elif how == 1:
        made[at:end] = chance.choice((*PIECES, b""))
    elif how == 2:
        made[at:at] = made[at:end] * chance.choice((1, 2, 50))
    elif how == 3:
        made[at:end] = bytes(chance.randrange(256) for _ in made[at:end])
    elif how == 4:
        other = chance.choice(seeds)
        cut = chance.randrange(len(other) + 1)
        made[at:at] = other[cut : cut + chance.choice((8, 80, 800))]
    else:
        lines = bytes(made).split(b"\n")
        one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
        lines[one], lines[two] = lines[two], lines[one]
        made = bytearray(b"\n".join(lines))
    return made
