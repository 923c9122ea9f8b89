from __future__ import annotations

import pytest

from deltaworks.errors import SetupError
from deltaworks.vault.values import values_of


def test_text_numbers_and_flags_are_values() -> None:
    found = values_of({"password": "canary", "port": 5432, "ratio": 0.5, "ssl": True}, "pg")

    assert {name: value.get_secret_value() for name, value in found.items()} == {
        "password": "canary",
        "port": "5432",
        "ratio": "0.5",
        "ssl": "true",
    }


@pytest.mark.parametrize("value", [None, ["canary"], {"inner": "canary"}])
def test_what_is_none_of_these_is_refused_by_name_and_not_shown(value: object) -> None:
    with pytest.raises(SetupError, match="'password' of pg is not text") as caught:
        values_of({"password": value}, "pg")

    assert "canary" not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize("found", [None, "canary", ["canary"], 5])
def test_what_has_no_names_is_refused_and_not_shown(found: object) -> None:
    with pytest.raises(SetupError, match="pg holds no names and values") as caught:
        values_of(found, "pg")

    assert "canary" not in str(caught.value) + caught.value.hint
