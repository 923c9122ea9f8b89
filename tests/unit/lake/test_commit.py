from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaworks.lake.commit import Commit, Mark, Position, keyed_app_id, parsed

FULL = Commit(
    run_id="20240101T000000-0a1b2c3d",
    pipeline="orders-daily",
    batch=7,
    position=Position(source="kafka:orders", start={"0": 1}, end={"0": 5}),
    key="2024-01-01",
    attempt=2,
    schema="sha256:abc",
    user="ana",
    host="etl-1",
    mark=Mark("deltaworks/orders-daily", 7),
    seen=12,
)


def test_the_metadata_of_a_commit_is_a_public_format() -> None:
    assert FULL.to_json() == (
        '{"deltaworks":1,"pipeline":"orders-daily","run":"20240101T000000-0a1b2c3d","batch":7,'
        '"position":{"source":"kafka:orders","from":{"0":1},"to":{"0":5}},"key":"2024-01-01","attempt":2,'
        '"schema":"sha256:abc","user":"ana","host":"etl-1","seen":12}'
    )


def test_what_a_commit_does_not_say_is_null() -> None:
    assert Commit(run_id="r").to_json() == (
        '{"deltaworks":1,"pipeline":null,"run":"r","batch":null,"position":null,"key":null,"attempt":1,'
        '"schema":null,"user":null,"host":null,"seen":-1}'
    )


def test_the_application_of_a_keyed_run_is_a_public_format() -> None:
    assert keyed_app_id("orders-daily", "2024-01-01") == "deltaworks/orders-daily#2024-01-01"


def test_metadata_is_read_back_without_the_mark_that_travels_beside_it() -> None:
    found = parsed(FULL.to_json())

    assert found is not None
    assert (found.run_id, found.key, found.attempt) == (FULL.run_id, FULL.key, 2)
    assert found.position == FULL.position
    assert found.mark is None


@given(run=st.text(min_size=1), key=st.text(), source=st.text(), end=st.integers())
def test_metadata_is_one_line_and_comes_back_equal(run: str, key: str, source: str, end: int) -> None:
    commit = Commit(run_id=run, key=key, position=Position(source=source, end=end))

    assert "\n" not in commit.to_json()
    assert parsed(commit.to_json()) == commit


def test_a_second_try_says_that_it_is_the_second() -> None:
    again = FULL.again()

    assert json.loads(again.to_json())["attempt"] == 3
    assert again.mark == FULL.mark


@pytest.mark.parametrize(
    "metadata",
    [None, "", "loaded by hand", "5", "[]", '{"run": "x"}', '{"deltaworks": 1}', "[" * 100_000],
)
def test_metadata_of_others_is_not_ours(metadata: str | None) -> None:
    assert parsed(metadata) is None


def test_metadata_of_a_later_version_is_still_ours() -> None:
    found = parsed('{"deltaworks":9,"run":"r","position":{"offsets":[1]},"novelty":true}')

    assert found == Commit(run_id="r")


@pytest.mark.parametrize(
    ("app_id", "expected"),
    [
        ("deltaworks/orders", Mark("deltaworks/orders/aside", 1)),
        ("deltaworks/orders#a#b", Mark("deltaworks/orders/aside/7#a#b", 1)),
    ],
)
def test_rows_set_aside_have_a_mark_of_their_own(app_id: str, expected: Mark) -> None:
    key = app_id.partition("#")[2] or None
    commit = Commit(run_id="run-1", pipeline="orders", key=key, mark=Mark(app_id, 7), seen=3, attempt=2)

    aside = commit.aside(None)

    assert (aside.mark, aside.run_id, aside.seen, aside.attempt) == (expected, "run-1", -1, 1)
    assert Commit(run_id="run-1").aside(None).mark is None


@pytest.mark.parametrize(
    ("start", "why", "goes_on", "anew"),
    [(7, None, True, False), (None, None, False, True), (7, "asked", False, False), (None, "asked", False, False)],
)
def test_a_batch_goes_on_from_the_one_before_or_begins_anew_and_a_move_does_neither(
    start: int | None, why: str | None, goes_on: bool, anew: bool
) -> None:
    commit = Commit(run_id="run-1", position=Position(source="shop", start=start, end=8), why=why)

    assert (commit.goes_on, commit.anew) == (goes_on, anew)


def test_rows_set_aside_go_to_any_table() -> None:
    commit = Commit(run_id="run-1", pipeline="orders", mark=Mark("deltaworks/orders", 7), table="5f0c")

    assert commit.aside(None).table is None
    assert parsed(commit.to_json()) == Commit(run_id="run-1", pipeline="orders", table="5f0c")
