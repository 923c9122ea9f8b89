"""The log store's jar, through the real compiler."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tools import logstore
from tools.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of what the jar is made from."""
    for path in (path for pattern in logstore.MADE_FROM for path in logstore.ROOT.glob(pattern)):
        copy = tmp_path / path.relative_to(logstore.ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return tmp_path


def test_the_jar_in_the_package_is_what_its_sources_compile_to(clone: Path) -> None:
    logstore.make(clone)

    assert (clone / logstore.JAR).read_bytes() == (logstore.ROOT / logstore.JAR).read_bytes()


def test_a_source_with_a_warning_is_not_compiled_and_no_jar_appears(clone: Path) -> None:
    (clone / "java/Loose.java").write_text("import java.util.List;\n\npublic class Loose {}\n")

    with pytest.raises(Problem, match=r"Loose.java \(at line 1\)"):
        logstore.make(clone)

    assert not list((clone / logstore.JAR).parent.glob("*.jar*"))
