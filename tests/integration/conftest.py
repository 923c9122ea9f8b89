"""What tests of pipelines share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.database import TestDatabase


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder, where records go."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=["PostgreSQL", "MySQL"])
def database(request: pytest.FixtureRequest) -> TestDatabase:
    """A database of each kind."""
    found: TestDatabase = request.getfixturevalue("pg" if request.param == "PostgreSQL" else "my")
    return found
