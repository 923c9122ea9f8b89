from __future__ import annotations

import base64
import itertools
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaworks.vault import MemoryVault, Redactor
from deltaworks.vault.redaction import MASK

if TYPE_CHECKING:
    from collections.abc import Callable

CANARY = 'k/7+é"\\ =&%-canary'
SPELLINGS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "url": lambda secret: quote(secret, safe=""),
    "form": quote_plus,
    "path of a url": quote,
    "url in small letters": lambda secret: re.sub("%..", lambda escape: escape[0].lower(), quote(secret, safe="")),
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 without padding": lambda secret: base64.b64encode(secret.encode()).decode().rstrip("="),
    "url-safe base64": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
    "json": lambda secret: json.dumps(secret)[1:-1],
    "json in unicode": lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
}


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS)
def test_a_secret_is_hidden_in_every_spelling(spelled: Callable[[str], str]) -> None:
    shown = Redactor([CANARY]).text(f"connecting with {spelled(CANARY)}; done")

    assert spelled(CANARY) not in shown
    assert shown.startswith(f"connecting with {MASK}")
    assert shown.endswith("; done")


@given(secret=st.text(min_size=12), spelling=st.sampled_from(sorted(SPELLINGS)))
def test_any_secret_is_hidden_in_any_spelling(secret: str, spelling: str) -> None:
    spelled = SPELLINGS[spelling](secret)

    assert spelled not in Redactor([secret]).text(f"before {spelled} after")


@pytest.mark.parametrize(("before", "after"), list(itertools.product(["", "a", "ab", "abc", "abcd"], ["", "y", "yz"])))
@pytest.mark.parametrize("encoded", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_is_hidden_in_the_base64_of_a_longer_text(
    encoded: Callable[[bytes], bytes], before: str, after: str
) -> None:
    shown = Redactor([CANARY]).text(f"Basic {encoded(f'{before}{CANARY}{after}'.encode()).decode()}")

    assert MASK in shown
    left, right = shown.removeprefix("Basic ").rstrip("=").split(MASK)
    assert len(left) == len(before) * 4 // 3  # the signs that hold no bit of the secret
    assert len(right) <= len(after) * 4 / 3 + 1


@given(secret=st.text(min_size=4), before=st.binary(max_size=5), after=st.binary(max_size=5))
def test_any_secret_is_hidden_in_any_base64(secret: str, before: bytes, after: bytes) -> None:
    encoded = base64.b64encode(before + secret.encode() + after).decode()

    shown = Redactor([secret]).text(f"Basic {encoded}")

    assert MASK in shown
    assert encoded not in shown


@pytest.mark.parametrize("short", ["1", "10", "abc"])
def test_a_very_short_value_does_not_turn_every_text_into_masks(short: str) -> None:
    redactor = Redactor([short])

    assert redactor.text("version 1 of abc has 10 rows") == "version 1 of abc has 10 rows"
    assert redactor.text(f"password={short}") == f"password={MASK}"
    assert redactor.value({"password": short, "path": f"in/{short}"}) == {"password": MASK, "path": f"in/{short}"}


def test_a_secret_inside_another_does_not_leave_the_rest_of_it() -> None:
    redactor = Redactor(["canary", "canary-and-more"])

    assert redactor.text("x canary-and-more y canary z") == f"x {MASK} y {MASK} z"


def test_a_secret_that_is_not_utf_8_is_hidden() -> None:
    secret = b"canary\xff".decode(errors="surrogateescape")

    assert Redactor([secret]).text(f"x {secret} y canary%FF z") == f"x {MASK} y {MASK} z"


def test_an_empty_secret_hides_nothing() -> None:
    assert Redactor([""]).text("plain words") == "plain words"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jdbc:postgresql://ana:hunter2@db/x", f"jdbc:postgresql://ana:{MASK}@db/x"),
        ("amqp://:hunter2@mq", f"amqp://:{MASK}@mq"),
        ("pg://ana:hun@ter2@db/x", f"pg://ana:{MASK}@db/x"),
        ("pg://ana:hun/ter2@db/x", f"pg://ana:{MASK}@db/x"),
        ("password=hunter2;user=ana", f"password={MASK};user=ana"),
        ("Password: hunter2", f"Password: {MASK}"),
        ('{"password": "hunter2", "user": "ana"}', f'{{"password": "{MASK}", "user": "ana"}}'),
        ("{'db_password': 'hunter2'}", f"{{'db_password': '{MASK}'}}"),
        ("fs.s3a.secret.key = hunter2", f"fs.s3a.secret.key = {MASK}"),
        ("?sessionToken=hunter2&x=1", f"?sessionToken={MASK}&x=1"),
    ],
)
def test_what_looks_like_a_secret_is_hidden_unknown_as_it_is(text: str, expected: str) -> None:
    assert Redactor().text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "s3a://bucket/orders",
        "http://localhost:8080/runs",
        "abfss://container@account.dfs.core.windows.net/x",
        "the key 'monday' landed as version 3",
        "order_key = 5",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    "name",
    [
        *("password", "DB_PASSWORD", "pass", "sslpassphrase", "fs.s3a.secret.key", "sessionToken", "accessKey"),
        *("fs.s3a.access.key", "account_key", "apiKey", "privateKey", "sas", "sharedAccessSignature", "credentials"),
    ],
)
@pytest.mark.parametrize("value", ["hunter2", 12345, 1.5])
def test_a_value_under_a_secret_name_is_hidden(name: str, value: object) -> None:
    assert Redactor().value({"options": {name: value}}) == {"options": {name: MASK}}


def test_a_list_under_a_secret_name_is_hidden() -> None:
    assert Redactor().value({"tokens": ["a", 5]}) == {"tokens": [MASK, MASK]}


@pytest.mark.parametrize("name", ["credentialId", "user", "host", "path", "mergeKeys", "passengers", "partitionBy"])
def test_a_value_under_another_name_is_shown(name: str) -> None:
    assert Redactor().value({name: "orders"}) == {name: "orders"}


@pytest.mark.parametrize("value", [None, True, False, {}, []])
def test_what_holds_nothing_is_shown(value: Any) -> None:
    assert Redactor().value({"password": value}) == {"password": value}


def test_a_known_secret_is_hidden_at_any_depth() -> None:
    config = {"extract": {"options": [{"url": f"jdbc:x?p={CANARY}"}]}, "count": 3, "pair": (CANARY, 1)}

    shown = Redactor([CANARY]).value(config)

    assert shown == {"extract": {"options": [{"url": f"jdbc:x?p={MASK}"}]}, "count": 3, "pair": [MASK, 1]}


def test_the_secrets_of_all_credentials_are_hidden_and_what_is_plain_is_shown() -> None:
    vault = MemoryVault({"pg": {"user": "ana", "host": "db-1", "password": "canary-word"}, "s3": {"key": "canary-key"}})

    redactor = Redactor.of(vault.get(name) for name in ("pg", "s3"))

    assert redactor.text("ana db-1 canary-word canary-key") == f"ana db-1 {MASK} {MASK}"
