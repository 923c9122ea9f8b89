from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaworks.lake.datafiles import names

if TYPE_CHECKING:
    from uuid import UUID

Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def spelled(number: UUID) -> str:
    """A number as the protocol spells it, worked out digit by digit."""
    words = [int.from_bytes(number.bytes[start : start + 4]) for start in range(0, 16, 4)]
    return "".join(Z85[word // 85**power % 85] for word in words for power in range(4, -1, -1))


def add(path: str, vector: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"add": {"path": path, "deletionVector": vector}}


def test_only_actions_of_the_kinds_asked_for_count() -> None:
    actions = [add("a"), {"remove": {"path": "b"}}, {"cdc": {"path": "_change_data/c"}}, {"commitInfo": {}}]

    assert names(actions, "add") == {"a"}
    assert names(actions, "remove", "cdc") == {"b", "_change_data/c"}


def test_names_are_those_of_storage_not_of_the_log() -> None:
    assert names([add("p=a%2520b/x%20y.parquet")], "add") == {"p=a%20b/x y.parquet"}


@pytest.mark.parametrize("path", ["s3://bucket/other/a.parquet", "file:/other/a.parquet", "/other/a.parquet"])
def test_files_of_another_table_are_left_out(path: str) -> None:
    assert names([add(path)], "add") == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # From the protocol's own example, and as Spark wrote it into a real table.
        ("ab^-aqEH.-t@S}K{vb[*k^", "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"),
        ("v6WDuo#]X6YXFXft5#<r", "deletion_vector_60b2bcf8-4dc8-4357-bcdc-92e25a733dba.bin"),
    ],
)
def test_a_deletion_vector_is_a_file_too(text: str, expected: str) -> None:
    assert names([add("a", {"storageType": "u", "pathOrInlineDv": text})], "add") == {"a", expected}


@given(st.uuids())
def test_any_number_names_its_deletion_vector(number: UUID) -> None:
    found = names([add("a", {"storageType": "u", "pathOrInlineDv": spelled(number)})], "add")

    assert found == {"a", f"deletion_vector_{number}.bin"}


@pytest.mark.parametrize("kind", ["i", "p"])
def test_a_deletion_vector_that_is_no_file_of_the_table_is_left_out(kind: str) -> None:
    assert names([add("a", {"storageType": kind, "pathOrInlineDv": "s3://elsewhere"})], "add") == {"a"}
