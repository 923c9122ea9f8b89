from __future__ import annotations

from pathlib import Path

import pytest

from deltaworks.lake.storage import advice, escaped, local_path, one_spelling, patiently, reason


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("data/orders", Path("data/orders")),
        ("/data/a b#c", Path("/data/a b#c")),
        ("file:///data/a%20b", Path("/data/a b")),
        ("file:/data/orders", Path("/data/orders")),
        ("s3://bucket/orders", None),
        ("s3a://bucket/orders", None),
    ],
)
def test_a_uri_knows_whether_it_is_local(uri: str, expected: Path | None) -> None:
    assert local_path(uri) == expected


@pytest.mark.parametrize("uri", ["s3://lake/s3://x", "S3://lake/s3://x", "s3n://lake/s3://x", "s3a://lake/s3://x"])
def test_a_bucket_has_one_spelling(uri: str) -> None:
    assert one_spelling(uri) == "s3a://lake/s3://x"


@pytest.mark.parametrize("uri", ["data/s3://x", "gs://lake/t", "abfss://c@a.dfs.core.windows.net/t"])
def test_other_places_stay_as_they_are(uri: str) -> None:
    assert one_spelling(uri) == uri


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("s3a://lake/a b/50%", "s3a://lake/a%20b/50%25"),
        ("s3a://lake/p=ü#?", "s3a://lake/p=%C3%BC%23%3F"),
        ("abfss://c@a.dfs.core.windows.net/t", "abfss://c@a.dfs.core.windows.net/t"),
        ("/data/a b", "/data/a b"),
        ("file:///data/a%20b", "file:///data/a%20b"),
    ],
)
def test_a_name_in_a_bucket_means_itself_to_those_who_decode_uris(uri: str, expected: str) -> None:
    assert escaped(uri) == expected


@pytest.mark.parametrize(
    ("why", "expected"),
    [
        ("ExpiredToken: The provided token has expired.", "Renew the credential"),
        ("SignatureDoesNotMatch", "keys are wrong"),
        ("AccessDenied: Access Denied", "lacks a right"),
        ("403 Forbidden", "keys are wrong, or they lack a right"),
        ("NoSuchBucket", "Make the bucket"),
        ("RequestTimeTooSkewed", "clock"),
        ("Connection refused", "Check the address"),
        ("something else", "Check the address, the credentials and the rights."),
    ],
)
def test_what_storage_says_leads_to_advice(why: str, expected: str) -> None:
    assert expected in advice(why)


CUT = "HTTP error: request or response body error"
RESET = "HTTP error: error sending request ... Connection reset by peer"


@pytest.mark.parametrize(("errors", "asked"), [((), 1), ((CUT,), 2), ((CUT, RESET), 3)])
def test_an_answer_that_was_cut_off_is_asked_for_again(errors: tuple[str, ...], asked: int) -> None:
    ask = Server(*errors)

    assert patiently(ask) == "answer"
    assert ask.asked == asked


@pytest.mark.parametrize(("errors", "asked"), [(("denied",), 1), ((CUT, CUT, CUT, CUT), 3)])
def test_any_other_answer_is_the_last_word(errors: tuple[str, ...], asked: int) -> None:
    ask = Server(*errors)

    with pytest.raises(OSError, match=errors[0]):
        patiently(ask)

    assert ask.asked == asked


class Server:
    """Answers after so many errors."""

    def __init__(self, *errors: str) -> None:
        self.errors = list(errors)
        self.asked = 0

    def __call__(self) -> str:
        self.asked += 1
        if self.errors:
            raise OSError(self.errors.pop(0))
        return "answer"


def test_an_error_without_words_is_named_by_its_kind() -> None:
    assert reason(OSError()) == "OSError"


def test_a_reason_is_short() -> None:
    assert len(reason(OSError("x" * 5000))) == 200
