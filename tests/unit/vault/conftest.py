"""What the tests of vaults share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import keyring
import pytest
from tests.unit.vault.rings import MemoryRing

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def ring() -> Iterator[MemoryRing]:
    """A keyring, where this machine may have none."""
    before = keyring.get_keyring()
    found = MemoryRing()
    keyring.set_keyring(found)
    yield found
    keyring.set_keyring(before)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers on this machine be asked directly."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
