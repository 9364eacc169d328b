"""Profiles and contacts, one row a person."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter

from stores.database import READ_TIMEOUT, WRITE_TIMEOUT, reading, writing
from stores.errors import UnknownPerson as UnknownPerson
from stores.people.items import Contact, Person, Profile

_PROFILE = TypeAdapter(Profile)
_CONTACTS = TypeAdapter(tuple[Contact, ...])
_NAME = "people"


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
            connection.execute(
                "CREATE TABLE IF NOT EXISTS people (persona_id VARCHAR NOT NULL, "
                "now TIMESTAMP NOT NULL, profile VARCHAR NOT NULL, contacts VARCHAR NOT NULL)"
            )

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

    def put(self, people: Sequence[Person]) -> None:
        """Add people; those whose id exists are replaced. One transaction."""
        with writing(self.path, _NAME, self._timeout) as connection:
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

    def forget(self, person_id: str) -> None:
        """Drop the person's profile and contacts."""
        with writing(self.path, _NAME, self._timeout) as connection:
            connection.execute("DELETE FROM people WHERE persona_id = ?", [person_id])


def _person(person_id: str, now: datetime, profile: str, contacts: str) -> Person:
    return Person(
        person_id, now, _PROFILE.validate_json(profile), _CONTACTS.validate_json(contacts)
    )
