"""Profiles and contacts, one row a person; what is known of the sources of their items and of
the versions of these.

The journal (`changes`) has a line for each import of a person, as in the stores of applications.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from stores.database import READ_TIMEOUT, WRITE_TIMEOUT, reading, writing
from stores.errors import UnknownPerson as UnknownPerson
from stores.people import import_journal, versions
from stores.people.changes import ChangeRecord, ImportMark
from stores.people.items import Contact, Person, Profile
from stores.people.migrations import Connection

_PROFILE = TypeAdapter(Profile)
_CONTACTS = TypeAdapter(tuple[Contact, ...])
_NAME = "people"
_TABLES = (
    "people (persona_id VARCHAR NOT NULL, now TIMESTAMP NOT NULL, profile VARCHAR NOT NULL, "
    "contacts VARCHAR NOT NULL)",
    "changes (persona_id VARCHAR NOT NULL, change_id BIGINT NOT NULL, "
    "happened_at TIMESTAMP NOT NULL, summary VARCHAR NOT NULL, before VARCHAR NOT NULL)",
    "sources (persona_id VARCHAR NOT NULL, name VARCHAR NOT NULL, content VARCHAR NOT NULL)",
    versions.TABLE,
)


class PeopleStore:
    """Who the people are whose items the other stores hold."""

    def __init__(
        self,
        path: Path,
        timeout: float = WRITE_TIMEOUT,
        read_timeout: float = READ_TIMEOUT,
    ) -> None:
        self.path = path
        self._timeout = timeout
        self._read_timeout = read_timeout

    def create(self) -> None:
        """Make the file and its table where they do not exist."""
        with writing(self.path, _NAME, self._timeout, create=True) as connection:
            for table in _TABLES:
                connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")

    def ids(self) -> list[str]:
        """All person ids, in the order in which they were stored."""
        with reading(self.path, _NAME, self._read_timeout) as connection:
            rows = connection.execute("SELECT persona_id FROM people ORDER BY rowid").fetchall()
        return [row[0] for row in rows]

    def people(self) -> dict[str, Person]:
        """Everybody, by id."""
        with reading(self.path, _NAME, self._read_timeout) as connection:
            rows = connection.execute(
                "SELECT persona_id, now, profile, contacts FROM people ORDER BY rowid"
            ).fetchall()
        return {row[0]: _person(*row) for row in rows}

    def person(self, person_id: str) -> Person:
        """The person of that id.

        Raises:
            UnknownPerson: There is none.
        """
        with reading(self.path, _NAME, self._read_timeout) as connection:
            row = connection.execute(
                "SELECT persona_id, now, profile, contacts FROM people WHERE persona_id = ?",
                [person_id],
            ).fetchone()
        if row is None:
            raise UnknownPerson(person_id, self.ids())
        return _person(*row)

    def put(
        self,
        people: Sequence[Person],
        mark: ImportMark | None = None,
        others: Sequence[str] = (),
    ) -> dict[str, int]:
        """Add people; those whose id exists are replaced. One transaction.

        Args:
            people: Who.
            mark: The import in the journal, None for none.
            others: Ids of further people of whom the import brings nothing but items.

        Returns:
            Person → id of the oldest change that can still be undone, of those who have more.
        """
        oldest: dict[str, int] = {}
        with writing(self.path, _NAME, self._timeout) as connection:
            ids = [person.person_id for person in people]
            if mark is not None:
                rows = connection.execute(
                    "SELECT persona_id, now, profile, contacts FROM people "
                    "WHERE list_contains(?::VARCHAR[], persona_id)",
                    [ids],
                ).fetchall()
                old = {row[0]: [row[1].isoformat(), *row[2:]] for row in rows}
                before: dict[str, dict[str, Any]] = {one: {"touched": []} for one in others}
                before |= {one: {"person": old.get(one), "touched": []} for one in ids}
                import_journal.record(connection, before, mark)
                oldest = import_journal.oldest_kept(connection)
                import_journal.drop_before(connection, oldest)
            _replace(connection, people)
        return oldest

    def last_change(self, person_id: str) -> ChangeRecord | None:
        """The newest import that changed the person, or None."""
        with reading(self.path, _NAME, self._read_timeout) as connection:
            if not _has(connection, "changes"):
                return None
            row = connection.execute(
                "SELECT change_id, happened_at, summary FROM changes WHERE persona_id = ? "
                "ORDER BY change_id DESC, rowid DESC LIMIT 1",
                [person_id],
            ).fetchone()
        return None if row is None else ChangeRecord(row[0], _NAME, row[1], row[2])

    def newest_change(self) -> int:
        """The highest change id of anybody, 0 when the journal is empty."""
        with reading(self.path, _NAME, self._read_timeout) as connection:
            return import_journal.newest(connection) if _has(connection, "changes") else 0

    def newest_import(self) -> ImportMark | None:
        """The last import of anybody, or None."""
        with reading(self.path, _NAME, self._read_timeout) as connection:
            if not _has(connection, "changes"):
                return None
            row = connection.execute(
                "SELECT change_id, happened_at, summary FROM changes "
                "ORDER BY change_id DESC, rowid DESC LIMIT 1"
            ).fetchone()
        return None if row is None else ImportMark(*row)

    def revert(self, person_id: str, change_id: int) -> bool:
        """Restore what was there before the import: profile, contacts, sources, versions.

        Returns:
            Whether relations of contacts changed, which are part of the text of items.
        """
        restated = False
        with writing(self.path, _NAME, self._timeout) as connection:
            rows = connection.execute(
                "SELECT before FROM changes WHERE persona_id = ? AND change_id = ? "
                "ORDER BY rowid DESC",
                [person_id, change_id],
            ).fetchall()
            for before in (json.loads(row[0]) for row in rows):
                if "person" in before:
                    row = connection.execute(
                        "SELECT contacts FROM people WHERE persona_id = ?", [person_id]
                    ).fetchone()
                    kept = before["person"][2] if before["person"] is not None else "[]"
                    restated |= _relations(row[0] if row else "[]") != _relations(kept)
                    connection.execute("DELETE FROM people WHERE persona_id = ?", [person_id])
                if before.get("person") is not None:
                    now, profile, contacts = before["person"]
                    moment = datetime.fromisoformat(now)
                    _replace(connection, [_person(person_id, moment, profile, contacts)])
                for name, content in before.get("sources", {}).items():
                    _set_source(connection, person_id, name, content)
                if "versions" in before:
                    versions.put(connection, person_id, before["versions"])
            connection.execute(
                "DELETE FROM changes WHERE persona_id = ? AND change_id = ?", [person_id, change_id]
            )
        return restated

    def sources(self, person_id: str) -> dict[str, Any]:
        """Name → what is known of each source of the person's items (JSON)."""
        with reading(self.path, _NAME, self._read_timeout) as connection:
            if not _has(connection, "sources"):
                return {}
            rows = connection.execute(
                "SELECT name, content FROM sources WHERE persona_id = ? ORDER BY rowid", [person_id]
            ).fetchall()
        return {name: json.loads(content) for name, content in rows}

    def set_source(
        self, person_id: str, name: str, content: Any, mark: ImportMark | None = None
    ) -> None:
        """Note what is known of a source, JSON; None drops it. `mark` as for `put`."""
        with writing(self.path, _NAME, self._timeout) as connection:
            if mark is not None:
                row = connection.execute(
                    "SELECT content FROM sources WHERE persona_id = ? AND name = ?",
                    [person_id, name],
                ).fetchone()
                old = None if row is None else json.loads(row[0])
                before = {person_id: {"sources": {name: old}, "touched": []}}
                import_journal.record(connection, before, mark)
            _set_source(connection, person_id, name, content)

    def versions(self, person_id: str) -> dict[str, Any]:
        """Item id → what is known of the version of it that is stored, or that is gone (JSON)."""
        with reading(self.path, _NAME, self._read_timeout) as connection:
            found = _has(connection, "versions")
            return versions.of_person(connection, person_id) if found else {}

    def set_versions(
        self, person_id: str, noted: Mapping[str, Any], mark: ImportMark | None = None
    ) -> None:
        """Note what is known of versions, JSON; None drops one. `mark` as for `put`."""
        with writing(self.path, _NAME, self._timeout) as connection:
            if mark is not None:
                known = versions.of_person(connection, person_id)
                old = {item_id: known.get(item_id) for item_id in noted}
                before = {person_id: {"versions": old, "touched": []}}
                import_journal.record(connection, before, mark)
            versions.put(connection, person_id, noted)

    def forget_version(self, person_id: str, item_id: str) -> bool:
        """Erase what is known of the version of one item; whether anything was."""
        with writing(self.path, _NAME, self._timeout) as connection:
            if not _has(connection, "versions"):
                return False
            return versions.forget_item(connection, person_id, item_id)

    def forget(self, person_id: str) -> None:
        """Drop the person's profile, contacts, sources, versions and journal."""
        with writing(self.path, _NAME, self._timeout) as connection:
            for table in ("people", "changes", "sources", "versions"):
                if _has(connection, table):
                    connection.execute(f"DELETE FROM {table} WHERE persona_id = ?", [person_id])

    def forget_contacts(self, person_id: str, gone: Callable[[Contact], bool]) -> int:
        """Drop the person's contacts for whom `gone` is true, from the journal, too.

        Returns:
            How many contacts the person has fewer.
        """
        with writing(self.path, _NAME, self._timeout) as connection:
            row = connection.execute(
                "SELECT contacts FROM people WHERE persona_id = ?", [person_id]
            ).fetchone()
            left, dropped = _without(row[0], gone) if row is not None else ("[]", 0)
            connection.execute(
                "UPDATE people SET contacts = ? WHERE persona_id = ?", [left, person_id]
            )
            if not _has(connection, "changes"):
                return dropped
            lines = connection.execute(
                "SELECT rowid, before FROM changes WHERE persona_id = ?", [person_id]
            ).fetchall()
            for number, text in lines:
                before = json.loads(text)
                if before.get("person") is not None:
                    before["person"][2] = _without(before["person"][2], gone)[0]
                    connection.execute(
                        "UPDATE changes SET before = ? WHERE rowid = ?",
                        [json.dumps(before, ensure_ascii=False), number],
                    )
        return dropped


def _replace(connection: Connection, people: Sequence[Person]) -> None:
    connection.execute(
        "DELETE FROM people WHERE list_contains(?::VARCHAR[], persona_id)",
        [[person.person_id for person in people]],
    )
    connection.execute(
        "INSERT INTO people SELECT unnest($1::VARCHAR[]), unnest($2::TIMESTAMP[]), "
        "unnest($3::VARCHAR[]), unnest($4::VARCHAR[])",
        [
            [person.person_id for person in people],
            [person.now for person in people],
            [_PROFILE.dump_json(person.profile).decode() for person in people],
            [_CONTACTS.dump_json(person.contacts).decode() for person in people],
        ],
    )


def _set_source(connection: Connection, person_id: str, name: str, content: Any) -> None:
    connection.execute("DELETE FROM sources WHERE persona_id = ? AND name = ?", [person_id, name])
    if content is not None:
        connection.execute(
            "INSERT INTO sources VALUES (?, ?, ?)",
            [person_id, name, json.dumps(content, ensure_ascii=False)],
        )


def _relations(contacts: str) -> dict[str, str]:
    """Name → relation, of contacts in JSON that have one."""
    found = _CONTACTS.validate_json(contacts)
    return {one.name.casefold(): one.relation for one in found if one.relation}


def _without(contacts: str, gone: Callable[[Contact], bool]) -> tuple[str, int]:
    """Contacts in JSON without those for whom `gone` is true, and how many those are."""
    all_ = _CONTACTS.validate_json(contacts)
    left = tuple(one for one in all_ if not gone(one))
    return _CONTACTS.dump_json(left).decode(), len(all_) - len(left)


def _has(connection: Connection, table: str) -> bool:
    """Whether the file has the table: files of earlier versions lack some until written again."""
    row = connection.execute(
        "SELECT 1 FROM information_schema.tables "
        "WHERE table_catalog = current_database() AND table_name = ?",
        [table],
    ).fetchone()
    return row is not None


def _person(person_id: str, now: datetime, profile: str, contacts: str) -> Person:
    return Person(
        person_id, now, _PROFILE.validate_json(profile), _CONTACTS.validate_json(contacts)
    )
