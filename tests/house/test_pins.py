from __future__ import annotations

import re

from tests.house.tree import ROOT
from tools.pins import BUILD, HELD, dependencies

LINES = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
PINS = [line for line in LINES if not line.startswith("#")]


def name_of(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def test_a_pin_is_a_name_and_a_version_and_no_address() -> None:
    assert [pin for pin in PINS if not re.fullmatch(r"[a-z0-9-]+==[0-9][\w.]*", pin)] == []


def test_every_dependency_is_pinned() -> None:
    wanted = map(name_of, [*dependencies(ROOT / "pyproject.toml"), *BUILD])

    assert set(wanted) - set(map(name_of, PINS)) == set()


def test_the_versions_that_fit_together_are_held() -> None:
    assert set(HELD) <= set(PINS)
