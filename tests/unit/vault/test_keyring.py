from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import keyring
import pytest
from keyring.backends import fail, null
from tests.unit.vault.rings import LockedRing, MemoryRing, StubbornRing

from deltaworks.errors import SetupError
from deltaworks.vault.keyring import KeyringKey
from deltaworks.vault.sealing import KeyringSeal

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SEAL = KeyringSeal(name="0" * 16)


def test_a_key_is_kept_under_a_name_of_its_own(ring: MemoryRing) -> None:
    source = KeyringKey()
    made = dict(source.make() for _ in range(2))

    assert len(ring.kept) == 2
    assert {seal: source.key(seal) for seal in made} == made


def test_a_key_that_is_forgotten_is_gone_and_the_others_stay(ring: MemoryRing) -> None:
    source = KeyringKey()
    (gone, _), (kept, _) = source.make(), source.make()

    source.forget(gone)

    assert isinstance(kept, KeyringSeal)
    assert list(ring.kept) == [f"deltaworks-vault {kept.name}"]


def test_a_key_that_is_not_there_is_a_clear_error(ring: MemoryRing) -> None:
    with pytest.raises(SetupError, match="The keyring has no key for this vault"):
        KeyringKey().key(SEAL)


@pytest.mark.parametrize(
    ("backend", "problem"),
    [
        (fail.Keyring, "There is no keyring on this machine."),
        (null.Keyring, "The keyring did not keep the key."),
        (LockedRing, "The keyring is locked."),
    ],
    ids=["none", "null", "locked"],
)
def test_a_keyring_that_cannot_keep_keys_is_a_clear_error(
    ring: MemoryRing, backend: type[KeyringBackend], problem: str
) -> None:
    keyring.set_keyring(backend())

    with pytest.raises(SetupError) as caught:
        KeyringKey().make()

    assert str(caught.value) == problem
    assert caught.value.hint


def test_a_keyring_that_forgets_nothing_does_no_harm(ring: MemoryRing) -> None:
    keyring.set_keyring(StubbornRing())
    seal, key = KeyringKey().make()

    KeyringKey().forget(seal)

    assert KeyringKey().key(seal) == key


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)

    with pytest.raises(SetupError, match="`keyring` is not installed") as caught:
        KeyringKey().make()

    assert caught.value.hint == "Run `pip install 'deltaworks[keyring]'`."
