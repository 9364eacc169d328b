"""What `ctrag import` does: whose files they are, reading and storing them, and saying how far."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ctrag.cli.output import bar_on_stderr, say
from ctrag.errors import InputError

if TYPE_CHECKING:
    from rich.progress import Progress

    from ctrag.assistant.imports.files import Place, Record
    from ctrag.assistant.imports.found import Owner
    from ctrag.assistant.imports.mails import MailOptions
    from ctrag.assistant.imports.report import Report
    from ctrag.models.encoder import Matrix
    from stores.people.items import Item, Person
    from stores.people.stores import Stores

_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
LONGEST_NAME = 200
"""Characters of a person's name at most."""


def import_paths(
    root: Path,
    paths: Sequence[Path],
    person_id: str | None,
    name: str | None = None,
    timezone: str | None = None,
    *,
    also: Sequence[str] = (),
    dry_run: bool = False,
    watch: "Watch | None" = None,
) -> "Report":
    """Import files, folders, archives and data set folders into the stores under `root`.

    Args:
        root: The stores folder, made when missing.
        paths: What to import.
        person_id: Whose the files are; of data sets, only this person.
        name: Name of the person.
        timezone: Time zone of the person.
        also: Kinds of mails that are otherwise left out.
        dry_run: Whether to say only what would be imported.
        watch: Hears how far it is; by default it is shown on stderr.

    Raises:
        ValueError: An argument breaks a rule, or of a single file nothing can be read.
        FileNotFoundError: A path does not exist.
    """
    from ctrag.assistant.context.item_arrays import encode_items
    from ctrag.assistant.imports.files import dataset_people, is_dataset
    from ctrag.assistant.imports.mails import MailOptions
    from ctrag.assistant.imports.report import Report
    from ctrag.assistant.imports.run import import_into, import_people
    from ctrag.assistant.open import TOOLBOX, joined_toolbox, toolbox_of
    from ctrag.errors import NotFound
    from ctrag.models.encoder import load_encoder
    from ctrag.settings import settings
    from stores.files import write_text
    from stores.people.app_spec import apps_of
    from stores.people.stores import ImportReport, Stores

    for path in paths:
        if not path.exists():
            raise NotFound(2, "no such file or folder", str(path))
    datasets = [path for path in paths if is_dataset(path)]
    files = [path for path in paths if path not in datasets]
    if files and person_id is None:
        raise InputError("--persona: a file needs the id of the person it belongs to")
    if timezone is not None:
        _check_zone(timezone)
    kinds: Any = frozenset(also)  # checked there
    options = MailOptions(also=kinds)
    target = Stores(root, apps_of(root, *datasets))
    people = [one for folder in datasets for one in dataset_people(folder, person_id)]
    name_of_encoder = settings().encoder
    report = Report(ImportReport(0, 0, 0, 0), dry_run=dry_run)

    def encode(owned: Sequence[tuple["Person", "Item"]]) -> "Matrix":
        return encode_items(load_encoder(name_of_encoder), list(owned))

    encoder = name_of_encoder if dry_run else load_encoder(name_of_encoder).name
    with watch or Watch(files) as watch:
        try:
            if people:
                import_people(target, people, encode, encoder, report=report, told=watch.told)
            if files and person_id is not None:
                person, notes = person_of(target, person_id, name, timezone)
                report.notes += notes
                records = _records(files, person, options, watch)
                import_into(
                    target, person, records, encode, encoder, report=report, told=watch.told
                )
        except KeyboardInterrupt:
            done = report.stored.added + report.stored.changed
            watch.say(f"{done} items are stored; the same command goes on from there")
            raise
    for folder in datasets if not dry_run else ():
        toolbox = joined_toolbox(root, folder)
        if toolbox != toolbox_of(root):
            write_text(root / TOOLBOX, toolbox.to_yaml(), private=True)
    _refuse_nothing(files, report)
    return report


def _refuse_nothing(files: Sequence[Path], report: "Report") -> None:
    """A file of which nothing could be read is an error and no import."""
    stored = report.stored
    read = stored.added or stored.changed or stored.unchanged or stored.contacts.added
    if len(files) == 1 and not read and not stored.contacts.changed:
        [*unread] = [one for one in report.left_out if one.kind == "file" and one.lost]
        if len(unread) == len(report.left_out) == 1 and files[0].is_file():
            raise InputError(f"{files[0]}: {unread[0].why}")


def _records(
    paths: Sequence[Path], person: "Person", options: "MailOptions", watch: "Watch"
) -> Iterator[tuple["Place | None", "Record"]]:
    from ctrag.assistant.imports.files import owner_of, records_in

    owner: Owner = owner_of(person)
    for path in paths:
        for place, record in records_in(path, owner, options):
            watch.read(place)
            yield place, record


def person_of(
    target: "Stores", person_id: str, name: str | None, timezone: str | None
) -> tuple["Person", list[str]]:
    """The person with the profile that they shall have, and what was decided, a sentence each.

    Raises:
        ValueError: There is no such time zone, or the name is too long.
    """
    from ctrag.assistant.imports.files import new_person
    from ctrag.assistant.imports.zones import machine_zone

    if name is not None:
        _check_name(name)
    if timezone is not None:
        _check_zone(timezone)
    notes: list[str] = []
    if not (target.exists() and person_id in target.people()):
        zone = timezone or machine_zone().key
        if timezone is None:
            notes.append(
                f"Times are those of {zone}, this machine's zone; --timezone sets another."
            )
        return new_person(person_id, name, zone), notes
    person = target.person(person_id)
    profile = person.profile
    if name is not None and name != profile.name:
        notes.append(f"{person_id} was called {profile.name!r} and is {name!r} now.")
        profile = replace(profile, name=name)
    if timezone is not None and timezone != profile.timezone:
        before = profile.timezone or "not known"
        notes.append(
            f"The zone of {person_id} was {before} and is {timezone} now; import calendars and "
            "mails again to have their times in it."
        )
        profile = replace(profile, timezone=timezone)
    if profile.timezone is None:
        notes.append(
            f"The zone of {person_id} is not known: times are those of {machine_zone().key}, this "
            "machine's; --timezone sets it."
        )
    return replace(person, profile=profile), notes


def _check_name(name: str) -> None:
    if len(name) > LONGEST_NAME:
        raise InputError(f"--name: at most {LONGEST_NAME} characters, not {len(name):,}")
    if any("\ud800" <= one <= "\udfff" for one in name):
        raise InputError("--name: not valid UTF-8")


def _check_zone(name: str) -> None:
    from stores.people.local_time import zone_of

    if zone_of(name) is None:
        raise InputError(f"--timezone: {name!r} is no time zone; write it as in Europe/Oslo")


class Watch:
    """How far an import has come: a bar on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._bar: Progress | None = None
        self._read = 0.0
        self._place: Place | None = None
        self._began = self._said = 0.0

    def __enter__(self) -> "Watch":
        from time import monotonic

        self._began = self._said = monotonic()
        if sys.stderr.isatty():
            self._bar = self._new_bar()
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def read(self, place: "Place") -> None:
        """Reading has come to a place."""
        if self._place is not None and place.name != self._place.name:
            self._read += self._place.size
        self._place = place

    def told(self, items: int, place: "Place | None") -> None:
        """So many items are encoded."""
        from time import monotonic

        now = monotonic()
        speed = items / max(1e-9, now - self._began)
        name = "" if place is None else f", {_printable(place.name)}"
        text = f"{items:,} items, {speed:.0f} a second{name}"
        if self._bar is not None:
            within = 0.0 if place is None else place.share * place.size
            self._bar.update(self._bar.task_ids[0], completed=self._read + within, description=text)
        elif now - self._said >= _EVERY:
            self._said = now
            self.say(text)

    def say(self, text: str) -> None:
        """One line on stderr."""
        say(f"ctrag: {text}")

    def _new_bar(self) -> "Progress":
        from ctrag.assistant.imports.files import size_of

        bar = bar_on_stderr()
        total = sum(size_of(path) for path in self._paths)
        bar.add_task("reading", total=total or None)
        return bar


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)[-60:]
