"""Calendars and address books in files that are exported again and again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from ctrag.assistant.imports.calendar_lines import components
from ctrag.assistant.imports.files import LARGEST
from ctrag.assistant.imports.found import LeftOut
from ctrag.assistant.imports.kinds import HEAD, kind_of
from ctrag.assistant.imports.sources import Source, sources_in
from ctrag.assistant.sync.source import ENDS, Fetched, Part, SourceUnavailable, is_whole, key_of
from ctrag.errors import NotFound


@dataclass(frozen=True, slots=True)
class Mirror:
    """A calendar or an address book as a file, or a folder or archive of them."""

    path: Path

    @property
    def name(self) -> str:
        """The source's name, hashed: what a single calendar calls itself, else its path.

        The next export of a calendar is the same source, whatever its file is called.
        """
        own = _own_name(self.path) if self.path.is_file() else ""
        return f"files-{key_of(own or str(self.path.resolve()))}"

    def fetch(self, tags: Mapping[str, str], meta: Mapping[str, Any]) -> Fetched:
        """See `Source.fetch`.

        Raises:
            FileNotFoundError: There is no such path.
            SourceUnavailable: It has something else than calendars and address books, or one is
                cut off: then nothing may be taken for gone.
        """
        if not self.path.exists():
            raise NotFound(2, "no such file or folder", str(self.path))
        found = Fetched()
        for source, kind, data in self._files():
            if not is_whole(kind, data):
                raise SourceUnavailable(
                    f"{source.name}: it does not end with {ENDS[kind].decode()}; is it cut off? "
                    "Nothing was changed"
                )
            key = "whole" if self.path.is_file() else key_of(source.name)
            tag = sha256(data).hexdigest()[:20]
            found.keys.add(key)
            if tags.get(key) != tag:
                found.parts.append(Part(key, tag, kind, data, name=source.name))
        if not found.keys:
            raise SourceUnavailable(f"{self.path}: it has no calendar and no address book")
        return found

    def _files(self) -> Iterator[tuple[Source, Literal["calendar", "contacts"], bytes]]:
        for source in sources_in(self.path):
            if isinstance(source, LeftOut):
                raise SourceUnavailable(f"{source.what}: {source.why}")
            if source.folder is not None:
                raise SourceUnavailable(f"{source.name}: --mirror is not for mails")
            with source.open() as file:
                head = file.read(HEAD)
                kind = kind_of(head, source.name)
                if kind == "calendar" or kind == "contacts":
                    if source.size > LARGEST:
                        raise SourceUnavailable(f"{source.name}: larger than {LARGEST >> 20} MB")
                    yield source, kind, head + file.read()
                elif kind is not None or source.named:
                    raise SourceUnavailable(
                        f"{source.name}: --mirror is for calendars and address books (.ics, .vcf)"
                    )


def _own_name(path: Path) -> str:
    """What a calendar file calls itself; empty for any other file."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if kind_of(head, path.name) != "calendar":
        return ""
    found = next((one for one in components(head) if one.kind == "VCALENDAR"), None)
    return "" if found is None else found.text("X-WR-RELCALID", "X-WR-CALNAME", "NAME")
