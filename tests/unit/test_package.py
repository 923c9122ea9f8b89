from __future__ import annotations

import pytest

import deltaworks


@pytest.mark.parametrize("name", deltaworks.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(deltaworks, name).__name__ == name


def test_an_unknown_name_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        deltaworks.nothing  # noqa: B018
