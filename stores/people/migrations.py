"""The stores' schema as named steps.

A step runs in the same transaction as the record that it ran. Listing what is pending writes
nothing. To change the schema, add a step at the end; never edit one that was released.
"""

from collections.abc import Callable
from dataclasses import dataclass

import duckdb

from stores.people.app_spec import AppSpec

Connection = duckdb.DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class MigrationStep:
    """One change of an application store's schema."""

    name: str
    run: Callable[[Connection, AppSpec], None]


def _items(connection: Connection, app: AppSpec) -> None:
    columns = "".join(f'"{field.name}" {field.sql_type}, ' for field in app.fields)
    connection.execute(
        f"CREATE TABLE items (persona_id VARCHAR NOT NULL, item_id VARCHAR NOT NULL, {columns}"
        "opens_30d BIGINT NOT NULL, last_opened TIMESTAMP, usual_hours INTEGER[], "
        "usual_place VARCHAR, content_hash VARCHAR NOT NULL, vector BLOB)"
    )


def _outbox(connection: Connection, app: AppSpec) -> None:
    connection.execute(
        "CREATE TABLE outbox (persona_id VARCHAR NOT NULL, change_id BIGINT NOT NULL, "
        "happened_at TIMESTAMP NOT NULL, kind VARCHAR NOT NULL, recipient VARCHAR, "
        "content VARCHAR NOT NULL, item_id VARCHAR)"
    )


def _state(connection: Connection, app: AppSpec) -> None:
    connection.execute(
        "CREATE TABLE state (persona_id VARCHAR NOT NULL, name VARCHAR NOT NULL, "
        "content VARCHAR NOT NULL)"
    )


def _changes(connection: Connection, app: AppSpec) -> None:
    connection.execute(
        "CREATE TABLE changes (persona_id VARCHAR NOT NULL, change_id BIGINT NOT NULL, "
        "happened_at TIMESTAMP NOT NULL, summary VARCHAR NOT NULL, before VARCHAR NOT NULL)"
    )


def _fields(connection: Connection, app: AppSpec) -> None:
    """Columns of the fields that the application got since; items have the default or nothing."""
    rows = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_name = 'items'"
    ).fetchall()
    there = {name for (name,) in rows}
    for field in app.fields:
        if field.name not in there:
            default = "" if field.default is None else f" DEFAULT {_literal(field.default)}"
            column = f'"{field.name}" {field.sql_type}{default}'
            connection.execute(f"ALTER TABLE items ADD COLUMN {column}")


def _literal(value: bool | int | str) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


STEPS: tuple[MigrationStep, ...] = (
    MigrationStep("0001_items", _items),
    MigrationStep("0002_outbox", _outbox),
    MigrationStep("0003_state", _state),
    MigrationStep("0004_changes", _changes),
    MigrationStep("0005_fields", _fields),
)


def pending(
    connection: Connection, steps: tuple[MigrationStep, ...] = STEPS
) -> list[MigrationStep]:
    """Steps that have not run on this store, in order; writes nothing."""
    known = connection.execute(
        "SELECT 1 FROM information_schema.tables WHERE table_name = 'schema_steps'"
    ).fetchone()
    done = (
        {row[0] for row in connection.execute("SELECT name FROM schema_steps").fetchall()}
        if known
        else set()
    )
    return [step for step in steps if step.name not in done]


def migrate(
    connection: Connection, app: AppSpec, steps: tuple[MigrationStep, ...] = STEPS
) -> list[str]:
    """Run what is pending inside the caller's transaction.

    Returns:
        Names of the steps that ran.
    """
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_steps (name VARCHAR NOT NULL, ran_at TIMESTAMP NOT NULL)"
    )
    ran = []
    for step in pending(connection, steps):
        step.run(connection, app)
        connection.execute(
            "INSERT INTO schema_steps VALUES (?, current_timestamp::TIMESTAMP)", [step.name]
        )
        ran.append(step.name)
    return ran
