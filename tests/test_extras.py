"""Claims about parts that need more than the bare install."""

import sys

import pytest

from ctrag.errors import MissingExtra
from ctrag.extras import need


def test_what_is_installed_is_not_asked_for() -> None:
    need("this", "json", "numpy", extra="assistant")


def test_the_first_missing_module_is_named_with_its_install_line() -> None:
    with pytest.raises(MissingExtra) as caught:
        need("flying", "json", "no_wings", "no_engine", extra="aviation")
    assert str(caught.value) == (
        "flying needs no_wings; install it with: pip install 'ctrag[aviation]'"
    )


def test_the_extra_of_a_known_module_need_not_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ctrag\[otel\]'"):
        need("telemetry", "opentelemetry")


def test_it_is_an_import_error_and_a_users_mistake() -> None:
    assert issubclass(MissingExtra, ImportError)
    assert issubclass(MissingExtra, ValueError)
