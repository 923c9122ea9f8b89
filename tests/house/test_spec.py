"""The examples of the specification, as they stand there: a change of a file is seen, whoever makes it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

SPEC = Path(__file__).parents[2] / "examples/spec"
# SHA-256 of each as canonical JSON, worked out from the text of the specification.
PINNED = {
    "1-simple-append": "739c24dc26798f5ab6e6ee6dcc66785a42b9dc5dbf98d222f68b643178927d84",
    "2-upsert-with-merge": "78a512c3cf00bbfac16afdedfb138c39bd081500b34e9e9af0245e96dfd6ebbe",
    "3-time-travel-read": "0601701f20fbb4269a167158bd2761229c8b116e55494c18b4f460c2a7e4d76b",
    "4-change-data-feed-cdc": "68e23723f8c200f8a9966065e7372c1a5c7d708dc94e834c923c630a6ea49668",
    "5-partition-overwrite": "c063843fa9e27b99709392f3667a86cdd0e9ecfe6f256f501f02cb0c39808fdc",
}


def test_all_examples_are_there() -> None:
    assert {path.stem for path in SPEC.glob("*.json")} == set(PINNED)


@pytest.mark.parametrize("name", PINNED)
def test_an_example_says_what_the_specification_says(name: str) -> None:
    found = json.loads((SPEC / f"{name}.json").read_text(encoding="utf-8"))
    canonical = json.dumps(found, sort_keys=True, separators=(",", ":"))

    assert hashlib.sha256(canonical.encode()).hexdigest() == PINNED[name]
