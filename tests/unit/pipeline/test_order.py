from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.pipeline.files import config, pipeline

from deltaworks.errors import ConfigError
from deltaworks.pipeline.order import ordered

if TYPE_CHECKING:
    from pathlib import Path


def order(*ways: tuple[str, str]) -> list[int]:
    """The order of pipelines, each given as where it reads and where it writes."""
    return ordered(
        [
            config(
                pipeline(
                    pipelineId=f"p{number}",
                    extract__connectionParams__path=source,
                    load__connectionParams__path=target,
                )
            )
            for number, (source, target) in enumerate(ways)
        ]
    )


def test_where_nothing_decides_the_order_given_stays() -> None:
    assert order(("/a", "/b"), ("/c", "/d"), ("/e", "/f")) == [0, 1, 2]


def test_one_that_reads_what_another_writes_comes_after_it() -> None:
    assert order(("/c", "/d"), ("/b", "/c"), ("/a", "/b")) == [2, 1, 0]


def test_one_that_reads_inside_what_another_writes_comes_after_it() -> None:
    assert order(("/out/day=1/*.csv", "/x"), ("/in", "/out")) == [1, 0]


def test_a_name_that_only_begins_the_same_does_not_matter() -> None:
    assert order(("/out2", "/x"), ("/in", "/out")) == [0, 1]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("s3a://lake/orders/", "s3://lake/orders"),
        ("s3://lake/orders", "s3a://lake/orders/"),
        ("/data/x/../orders", "/data/orders"),
        ("file:///data/orders", "/data/orders"),
    ],
)
def test_two_spellings_of_one_place_are_one_place(source: str, target: str) -> None:
    assert order((source, "/x"), ("/in", target)) == [1, 0]


def test_a_link_is_the_place_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "orders")

    assert order((str(tmp_path / "link"), "/x"), ("/in", str(tmp_path / "orders"))) == [1, 0]


def test_one_that_reads_what_it_writes_itself_waits_for_nobody() -> None:
    assert order(("/a", "/a"), ("/b", "/c")) == [0, 1]


def test_two_that_write_the_same_place_come_before_its_reader() -> None:
    assert order(("/t", "/x"), ("/a", "/t"), ("/b", "/t")) == [1, 2, 0]


def test_a_circle_is_refused_and_named() -> None:
    with pytest.raises(ConfigError, match="in a circle: p") as caught:
        order(("/a", "/b"), ("/b", "/c"), ("/c", "/a"))

    assert all(f"p{number}" in str(caught.value) for number in range(3))
