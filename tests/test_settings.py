"""Settings: defaults, the environment, one line for what breaks a rule, and no key shown."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ctrag.settings import Settings, cache_folder, settings


def test_defaults_are_those_of_the_embedded_models() -> None:
    found = settings()
    assert (found.encoder, found.planner_model) == (
        "all-MiniLM-L6-v2+all-mpnet-base-v2",
        "SmolLM2-135M-Instruct",
    )
    assert (found.items, found.tools, found.prompt_budget, found.online) == (5, 5, 380, True)


def test_the_environment_overrides_each_field(configure: Callable[..., None]) -> None:
    configure(items=3, tools=7, online="false", openai_timeout=1.5, home="~/elsewhere")
    found = settings()
    assert (found.items, found.tools, found.online, found.openai_timeout) == (3, 7, False, 1.5)
    assert found.home == Path("~/elsewhere")


def test_settings_are_read_once() -> None:
    assert settings() is settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("items", "0"),
        ("items", "51"),
        ("items", "many"),
        ("tools", "0"),
        ("prompt_budget", "99"),
        ("threads", "0"),
        ("openai_timeout", "0"),
        ("online", "perhaps"),
    ],
)
def test_a_value_that_breaks_a_rule_is_named_in_one_line(
    configure: Callable[..., None], name: str, value: str
) -> None:
    configure(**{name: value})
    with pytest.raises(ValueError, match=f"^CTRAG_{name.upper()}: Input should be ") as caught:
        settings()
    assert "\n" not in str(caught.value)


def test_the_key_is_in_no_representation(configure: Callable[..., None], api_key: str) -> None:
    configure(openai_api_key=api_key)
    found = settings()
    assert found.openai_api_key.get_secret_value() == api_key
    for shown in (repr(found), str(found), found.model_dump_json(), repr(found.model_dump())):
        assert api_key not in shown


def test_an_unknown_variable_is_passed_over(configure: Callable[..., None]) -> None:
    configure(colour="red")
    assert isinstance(settings(), Settings)


def test_the_cache_folder_is_made_when_missing(
    configure: Callable[..., None], tmp_path: Path
) -> None:
    configure(cache=tmp_path / "a" / "b")
    assert cache_folder() == tmp_path / "a" / "b"
    assert (tmp_path / "a" / "b").is_dir()
