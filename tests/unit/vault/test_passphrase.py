from __future__ import annotations

import pytest

from deltaworks.errors import ConfigError
from deltaworks.vault.passphrase import PassphraseKey
from deltaworks.vault.sealing import PassphraseSeal

QUICK = PassphraseSeal(n=2**14, salt="00" * 16)


def key_of(passphrase: str, seal: PassphraseSeal = QUICK) -> bytes:
    return PassphraseKey(lambda: passphrase, lambda: "").key(seal)


def test_the_same_passphrase_makes_the_same_key() -> None:
    assert key_of("correct horse") == key_of("correct horse")
    assert len(key_of("correct horse")) == 32


def test_another_passphrase_salt_or_cost_makes_another_key() -> None:
    seals = [QUICK, PassphraseSeal(n=2**14, salt="01" * 16), PassphraseSeal(n=2**15, salt="00" * 16)]

    assert len({key_of("correct horse", seal) for seal in seals} | {key_of("correct horse ")}) == 4


def test_a_letter_is_the_same_whichever_way_it_was_typed() -> None:
    assert key_of("caf\u00e9 au lait") == key_of("cafe\u0301 au lait")


def test_a_passphrase_that_is_not_utf_8_is_a_passphrase() -> None:
    assert key_of(b"canary\xff".decode(errors="surrogateescape")) != key_of("canary")


def test_a_new_key_has_a_salt_of_its_own_and_takes_its_time() -> None:
    source = PassphraseKey(lambda: "correct horse", lambda: "correct horse")

    seal, key = source.make()

    assert isinstance(seal, PassphraseSeal)
    assert (seal.n, seal.r, seal.p) == (2**17, 8, 1)
    assert seal.salt != QUICK.salt
    assert source.key(seal) == key


@pytest.mark.parametrize("passphrase", ["", "short"])
def test_a_passphrase_that_is_soon_guessed_is_refused_and_not_repeated(passphrase: str) -> None:
    with pytest.raises(ConfigError, match="too short") as caught:
        PassphraseKey(lambda: "", lambda: passphrase).make()

    assert "short'" not in str(caught.value)
