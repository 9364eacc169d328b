"""Files that would take all memory or all stack are one clear error, at once."""

import bz2
import time
from pathlib import Path

import pytest

from ctrag.agents.catalogue.tool import load_catalogue
from ctrag.toolbox import Toolbox
from stores.bounded_yaml import load_yaml
from stores.compressed import LARGEST, read_kept
from stores.errors import InputError
from stores.people.app_spec import load_apps

BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
DEEP = "a: " + "[" * 500 + "]" * 500
DEEPER = "[" * 100_000
ITSELF = "a: &a [*a]"
LONG = "a: &a '" + "x" * 1_000_000 + "'\nb: [" + ",".join(["*a"] * 10_000) + "]"


@pytest.mark.parametrize("text", [BOMB, DEEP, DEEPER, ITSELF, LONG], ids=lambda text: text[:12])
@pytest.mark.parametrize("read", [load_apps, Toolbox.from_file, load_catalogue])
def test_a_bomb_in_yaml(read: object, text: str, tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text)
    began = time.perf_counter()
    with pytest.raises(
        InputError, match=r"file\.yaml.*(nested|maximum nesting|stands for more|holds itself|YAML)"
    ):
        read(file)  # type: ignore[operator]
    assert time.perf_counter() - began < 5


def test_what_is_repeated_a_little_is_read() -> None:
    value = load_yaml("a: &a [1, 2]\nb: [*a, *a]\nc: {<<: {d: 1}}")
    assert value == {"a": [1, 2], "b": [[1, 2], [1, 2]], "c": {"d": 1}}


@pytest.mark.parametrize(
    "phrase",
    [
        "{title:{start}}",
        "{title:>2000000000}",
        "{title:>99999999999}",
        "{title:d}",
        "{title!r}",
        "{title!x}",
        "{title",
        "{title.__class__}",
        "{title[0]}",
        "{0}",
        "{}",
        "{title}{title}",
    ],
)
def test_a_phrase_is_a_field_in_words_and_nothing_else(phrase: str, tmp_path: Path) -> None:
    file = tmp_path / "apps.yaml"
    fields = "{title: {type: string, role: title}, start: {type: datetime, role: time}}"
    file.write_text(f"zoo:\n  phrase: ['{phrase}']\n  fields: {fields}\n")
    with pytest.raises(InputError, match=r"apps\.yaml: zoo: "):
        load_apps(file)
    file.write_text(f"zoo:\n  phrase: ['zoo: {{title}}!', '{{start}}']\n  fields: {fields}\n")
    assert load_apps(file)[0].phrase == ("zoo: {title}!", "{start}")


@pytest.mark.slow
def test_a_small_file_that_is_gigabytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.bz2").write_bytes(bz2.compress(bytes(LARGEST + 1)))
    assert (tmp_path / "a.jsonl.bz2").stat().st_size < 1000
    with pytest.raises(InputError, match=r"a\.jsonl\.bz2: holds more than 256 MB"):
        read_kept(tmp_path / "a.jsonl")


@pytest.mark.parametrize("cut", [1, 20, -1])
def test_a_compressed_file_that_ends_too_early_is_named(cut: int, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.bz2").write_bytes(bz2.compress(b"some text" * 100)[:cut])
    with pytest.raises(InputError, match=r"a\.jsonl\.bz2: not bzip2"):
        read_kept(tmp_path / "a.jsonl")


def test_compressed_parts_one_after_the_other_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.bz2").write_bytes(bz2.compress(b"one\n") + bz2.compress(b"two\n"))
    assert read_kept(tmp_path / "a.jsonl") == b"one\ntwo\n"
