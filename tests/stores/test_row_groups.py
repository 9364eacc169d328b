"""What a write has to read and write again does not grow with the store."""

from pathlib import Path

from stores.database import ROWS_TOGETHER, reading, writing
from stores.people.bulk import compact


def groups(path: Path) -> int:
    with reading(path, "songs") as connection:
        [[count]] = connection.execute(
            "SELECT count(DISTINCT row_group_id) FROM pragma_storage_info('songs')"
        ).fetchall()
    return int(count)


def test_rows_are_kept_in_small_groups_also_after_they_are_compacted(tmp_path: Path) -> None:
    path = tmp_path / "songs.duckdb"
    with writing(path, "songs", create=True) as connection:
        connection.execute(f"CREATE TABLE songs AS SELECT * FROM range(3 * {ROWS_TOGETHER})")
    assert groups(path) == 3
    compact(path)
    assert groups(path) == 3
