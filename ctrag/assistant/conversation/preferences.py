"""What a person taught by correcting: who is meant by a name, and rows to train on.

Kept as lines of one file beside the person's stores; `ctrag forget` erases it.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ctrag.assistant.planning.mentions import mentioned
from ctrag.assistant.planning.plan import Plan
from ctrag.text.words import STOPWORDS, words
from stores.files import append_private, make_private_folder
from stores.people.items import Contact, Request
from stores.people.learned import learned_file
from stores.people.local_time import format_local_time

LINES = 2000
"""The newest lines that are read."""
_WHO_IS = re.compile(
    r"\W*(?:no[\s,]+|and[\s,]+)?(?:by\s+)?(?:my\s+)?(?P<mention>[^\W\d_][\w'’ -]{0,30}?)\s+"
    r"(?:is|means|i mean|i meant)\s+(?P<name>[^,.;!?]+)\W*",
    re.IGNORECASE,
)
_TO_SOMEBODY = (
    r"(?:tell|ask|call|ring|phone|text|mail|email|message|write(?:\s+to)?|reply\s+to|answer|let"
    r"|remind"
    r"|invite|send(?:\s+(?:it|this|that|them))?(?:\s+on)?\s+to|(?:share"
    r"|forward)\s+[^,.]{1,60}?\s+(?:with|to))"
)


class _Preference(BaseModel):
    model_config = ConfigDict(extra="ignore")
    kind: Literal["preference"] = "preference"
    mention: str
    name: str


class _Correction(BaseModel):
    model_config = ConfigDict(extra="ignore")
    kind: Literal["correction"] = "correction"
    text: str
    asked_at: str
    place: str | None = None
    api: str
    arguments: dict[str, str | int | list[str]]
    instead_of: str


_LINE: TypeAdapter[_Preference | _Correction] = TypeAdapter(
    Annotated[_Preference | _Correction, Field(discriminator="kind")]
)


@dataclass(slots=True)
class Preferences:
    """One person's, read once and added to."""

    path: Path
    meant: dict[str, str]
    """Mention, folded → full name of the contact who is meant."""

    @classmethod
    def load(cls, root: Path, person_id: str) -> "Preferences":
        """Those of a person; lines that cannot be read count for nothing.

        Args:
            root: Folder of the stores.
            person_id: Whose.
        """
        path = learned_file(root, person_id)
        meant = {}
        if path.exists():
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
            for raw in lines[-LINES:]:
                try:
                    row = _LINE.validate_json(raw)
                except ValidationError:
                    continue
                if isinstance(row, _Preference):
                    meant[row.mention] = row.name
        return cls(path, meant)

    def prefer(self, mention: str, name: str) -> None:
        """From now on, this mention means that contact."""
        key = " ".join(words(mention))
        if not key or self.meant.get(key) == name:
            return
        self.meant[key] = name
        self._add(_Preference(mention=key, name=name))

    def correct(self, request: Request, plan: Plan, instead_of: Plan) -> None:
        """Keep a corrected call as a row to train on."""
        self._add(
            _Correction(
                text=request.text,
                asked_at=format_local_time(request.asked_at),
                place=request.place,
                api=plan.api,
                arguments=plan.arguments,
                instead_of=str(instead_of),
            )
        )

    def spelled_out(self, text: str) -> str:
        """The request with the full name of those who are addressed by a mention that was taught;
        a mention inside a message stays as it is."""
        for mention, name in self.meant.items():
            apart = r"\W+".join(map(re.escape, mention.split()))
            found = re.search(rf"\b{_TO_SOMEBODY}\s+(?:my\s+)?({apart})\b", text, re.IGNORECASE)
            if found and name.casefold() not in text.casefold():
                begin = found.start(1)
                my = re.search(r"\bmy\s+$", text[:begin], re.IGNORECASE)
                begin = my.start() if my else begin
                text = f"{text[:begin]}{name}{text[found.end(1) :]}"
        return text

    def _add(self, row: BaseModel) -> None:
        make_private_folder(self.path.parent)
        # In ASCII: half a character (of bytes that were no UTF-8) can be written, too.
        append_private(self.path, json.dumps(row.model_dump()) + "\n")


def taught(text: str, contacts: Sequence[Contact]) -> tuple[str, str] | None:
    """The mention and the name of "mum is Margarethe"; None where a text teaches nobody's name."""
    found = _WHO_IS.fullmatch(text.replace("’", "'"))
    if found is None:
        return None
    mention, name = found["mention"], found["name"]
    known = {word for one in contacts for word in words(one.name)}
    people = mentioned(name, contacts)
    if len(people) != 1 or not set(words(name)) <= known or set(words(mention)) & STOPWORDS:
        return None
    return (mention, people[0].name) if mentioned(mention, contacts) or len(mention) > 2 else None


def mention_of(text: str, right: str, wrong: str, contacts: Sequence[Contact]) -> str | None:
    """The word of a request by which `right` was meant and `wrong` was understood."""
    by_name: Mapping[str, Contact] = {one.name: one for one in contacts}
    if right not in by_name or wrong not in by_name:
        return None
    said: Iterable[str] = (word for word in words(text) if word not in STOPWORDS)
    return next(
        (word for word in said if by_name[wrong] in mentioned(word, contacts)),
        None,
    )
