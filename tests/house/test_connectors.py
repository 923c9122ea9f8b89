from __future__ import annotations

import pytest
from tests.house.tree import PACKAGE, ROOT, named

FAMILIES = ("sources", "transforms", "sinks")
SHARED = {"__init__", "base", "incremental"}


def is_tested(stem: str, tests: set[str]) -> bool:
    """Say whether a step has its test file: its own, or that of the step whose name it continues."""
    return any(f"{stem}_".startswith(f"{test}_") or test.startswith(f"{stem}_") for test in tests)


def test_every_step_has_its_test_file() -> None:
    tests = {path.stem.removeprefix("test_") for path in (ROOT / "tests").rglob("test_*.py")}
    steps = [path for family in FAMILIES for path in (PACKAGE / "spark" / family).glob("*.py")]

    assert [named(path) for path in steps if path.stem not in SHARED and not is_tested(path.stem, tests)] == []


@pytest.mark.parametrize(
    ("stem", "expected"),
    [("kafka", True), ("delta", True), ("delta_write", True), ("deltas", False), ("filter", False)],
)
def test_a_step_without_a_test_is_seen(stem: str, expected: bool) -> None:
    assert is_tested(stem, {"kafka_source", "delta", "fil"}) is expected
