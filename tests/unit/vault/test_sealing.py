from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaworks.errors import SetupError
from deltaworks.vault.sealing import DamagedVaultError, FileSeal, KeyringSeal, PassphraseSeal, Seal, parsed, sealed

PATH = Path("vault.sealed")
KEY = bytes(range(32))
FILE = FileSeal(name="fedcba9876543210")
SEALS: list[Seal] = [
    FILE,
    KeyringSeal(name="0123456789abcdef"),
    PassphraseSeal(salt="0123456789abcdeffedcba9876543210"),
]
CONTENT = b'{"pg": {"password": "canary"}, "s3": {"secret": "canary-too"}}'

each_seal = pytest.mark.parametrize("seal", SEALS, ids=lambda seal: seal.key)


def opened(raw: bytes, key: bytes = KEY) -> bytes | None:
    return parsed(raw, PATH).opened(key)


def is_refused(raw: bytes) -> bool:
    try:
        return opened(raw) is None
    except SetupError as error:
        return bool(error.hint)


def first_line(version: int = 1, **values: Any) -> bytes:
    return f"deltaworks-vault/{version} {json.dumps(values)}\n".encode() + bytes(64)


@each_seal
def test_what_is_sealed_opens_with_its_key_and_says_how_it_was_sealed(seal: Seal) -> None:
    raw = sealed(CONTENT, seal, KEY)

    assert opened(raw) == CONTENT
    assert parsed(raw, PATH).seal == seal
    assert b"canary" not in raw
    assert b"pg" not in raw


def test_the_same_content_is_sealed_differently_each_time() -> None:
    assert len({sealed(CONTENT, FILE, KEY) for _ in range(10)}) == 10


@each_seal
def test_no_bit_of_a_sealed_file_can_change_unnoticed(seal: Seal) -> None:
    raw = sealed(CONTENT, seal, KEY)
    flipped = (raw[:at] + bytes([raw[at] ^ (1 << bit)]) + raw[at + 1 :] for at in range(len(raw)) for bit in range(8))

    assert [number for number, each in enumerate(flipped) if not is_refused(each)] == []


@each_seal
def test_no_end_or_beginning_of_a_sealed_file_can_be_lost_or_added_unnoticed(seal: Seal) -> None:
    raw = sealed(CONTENT, seal, KEY)

    assert all(is_refused(raw[:at]) for at in range(len(raw)))
    assert all(is_refused(raw[at:]) for at in range(1, len(raw)))
    assert is_refused(raw + b"\0")
    assert is_refused(b"\n" + raw)


@each_seal
def test_no_two_parts_of_a_sealed_file_can_change_places_unnoticed(seal: Seal) -> None:
    raw = sealed(CONTENT, seal, KEY)
    size = 8
    parts = [raw[at : at + size] for at in range(0, len(raw), size)]
    for one in range(len(parts)):
        for other in range(one):
            swapped = parts.copy()
            swapped[one], swapped[other] = parts[other], parts[one]
            assert is_refused(b"".join(swapped))


def test_the_line_of_one_vault_does_not_go_with_the_body_of_another() -> None:
    ours, theirs = (sealed(CONTENT, KeyringSeal(name=name * 16), KEY) for name in "ab")

    assert is_refused(ours.split(b"\n", 1)[0] + b"\n" + theirs.split(b"\n", 1)[1])


@given(key=st.binary(min_size=32, max_size=32).filter(lambda key: key != KEY))
def test_another_key_opens_nothing(key: bytes) -> None:
    assert opened(sealed(CONTENT, FILE, KEY), key) is None


@given(content=st.binary(max_size=200), key=st.binary(min_size=32, max_size=32))
def test_anything_can_be_sealed(content: bytes, key: bytes) -> None:
    assert opened(sealed(content, FILE, key), key) == content


@given(raw=st.binary(max_size=200))
def test_what_is_no_vault_is_refused(raw: bytes) -> None:
    for text in (raw, b"deltaworks-vault/1 " + raw, sealed(b"", FILE, KEY)[:60] + raw):
        assert is_refused(text)


@pytest.mark.parametrize("version", [2, 10, 999_999_999])
def test_a_newer_format_asks_for_an_upgrade(version: int) -> None:
    with pytest.raises(SetupError, match="newer format") as caught:
        opened(first_line(version, whatever="it says"))

    assert caught.value.hint == "Upgrade deltaworks."


@pytest.mark.parametrize(
    "values",
    [
        {"n": 2**40},
        {"n": 2**19},
        {"n": 2**13},
        {"n": 2**15 + 1},
        {"n": "131072"},
        {"r": 2**20},
        {"r": 1},
        {"p": 2**20},
        {"p": 0},
        {"salt": ""},
        {"salt": "0" * 100},
        {"more": 1},
        {"key": "keyring"},
        {"key": "nothing"},
    ],
    ids=str,
)
def test_a_first_line_cannot_ask_for_all_memory_or_for_a_weak_key(values: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"key": "passphrase", "n": 2**17, "r": 8, "p": 1, "salt": "0" * 32} | values

    with pytest.raises(DamagedVaultError):
        opened(first_line(**asked))


def test_the_format_is_the_one_that_is_written_down() -> None:
    raw = sealed(b"{}", PassphraseSeal(salt="ab" * 16), KEY)
    line = b'deltaworks-vault/1 {"key":"passphrase","n":131072,"r":8,"p":1,"salt":"' + b"ab" * 16 + b'"}\n'

    assert raw.startswith(line)
    assert len(raw) == len(line) + 12 + len(b"{}") + 16
