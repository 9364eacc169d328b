from pathlib import Path

import pytest

from stores.files import replacing, write_bytes, write_text


def test_a_write_that_fails_leaves_the_old_content_and_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError, match="surrogates"):
        write_text(path, "new \ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        write_text(tmp_path / "none" / "a.txt", "new")
    assert list(tmp_path.iterdir()) == []


def test_bytes_are_replaced_at_the_end_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    write_bytes(path, b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_whoever_fails_while_writing_leaves_the_old_bytes_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    write_bytes(path, b"old")
    with pytest.raises(TypeError, match="bytes-like"), replacing(path) as file:
        file.writelines([b"half", "no bytes"])
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
