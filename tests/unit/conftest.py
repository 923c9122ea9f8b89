"""What all unit tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import keyring
import pytest
from hypothesis import settings
from tests.unit.vault.rings import MemoryRing

if TYPE_CHECKING:
    from collections.abc import Iterator

# The same examples every time: a test that fails here fails everywhere.
settings.register_profile("house", derandomize=True, deadline=None, database=None)
settings.load_profile("house")


@pytest.fixture
def ring() -> Iterator[MemoryRing]:
    """A keyring, where this machine may have none."""
    before = keyring.get_keyring()
    found = MemoryRing()
    keyring.set_keyring(found)
    yield found
    keyring.set_keyring(before)
