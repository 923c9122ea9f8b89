from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.pipeline.files import config, pipeline

from deltaworks.errors import ConfigError
from deltaworks.pipeline.asked import Asked, Range
from deltaworks.pipeline.following import Pace
from deltaworks.pipeline.keys import LONGEST, shortened

if TYPE_CHECKING:
    from deltaworks.pipeline.config import PipelineConfig

FEED = {
    "sourceType": "DeltaLake",
    "connectionParams": {"path": "in", "readChangeFeed": True},
    "incremental": {},
}


def incremental(**extract: Any) -> PipelineConfig:
    return config(pipeline(extract={**FEED, **extract}))


def test_again_without_a_key_is_refused() -> None:
    with pytest.raises(ConfigError, match="--again needs a key"):
        Asked(again=True).of(config())


@pytest.mark.parametrize("asked", [Asked(), Asked(key="monday"), Asked(key="monday", again=True)])
def test_a_key_with_or_without_again_is_fine(asked: Asked) -> None:
    assert asked.of(config()) == (config(), asked)


def test_a_key_does_not_go_with_an_incremental_read() -> None:
    with pytest.raises(ConfigError, match="does not go with an incremental read"):
        Asked(key="monday").of(incremental())


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (Asked(pace=Pace(follow=True)), "--follow"),
        (Asked(pace=Pace(refresh=True)), "--full-refresh"),
        (Asked(between=Range("1", "2")), "--from and --to"),
    ],
)
def test_what_is_for_incremental_pipelines_is_refused_elsewhere(asked: Asked, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        asked.of(config())


def test_one_of_several_tables_is_not_followed() -> None:
    one = incremental()
    one._part = "shop.orders"

    with pytest.raises(ConfigError, match="would never get to the second"):
        Asked(pace=Pace(follow=True)).of(one)
    assert Asked().of(one)[0] is one


def test_a_range_is_one_load_under_its_own_key() -> None:
    found, asked = Asked(between=Range("3", "7"), again=True).of(incremental())

    assert found.extract.incremental is None
    assert (found.extract.starting_version, found.extract.ending_version) == (3, 7)  # type: ignore[attr-defined]
    assert (asked.key, asked.again, asked.between) == ("3..7", True, None)


def test_a_range_of_offsets_has_one_key_however_its_json_is_spelled() -> None:
    one = Range('{"orders": {"0": 1, "1": 2}}', '{"orders":{"0":3,"1":4}}')
    other = Range('{ "orders":\n{"1": 2, "0": 1} }', '{"orders": {"1": 4, "0": 3}}')

    assert one.key == other.key == '{"orders":{"0":1,"1":2}}..{"orders":{"0":3,"1":4}}'


@pytest.mark.parametrize("text", ["2024-01-01 12:00", "007", "[1, 2]", '{"a": ', "{" * 100_000])
def test_text_that_is_no_object_of_json_is_in_the_key_as_it_stands(text: str) -> None:
    assert Range(text, "x").key == shortened(f"{text}..x")


def test_a_range_of_many_partitions_has_a_key_of_its_own_that_is_short_enough() -> None:
    start, ends = offsets(0), [offsets(1), offsets(2)]

    keys = [Range(start, end).key for end in ends]

    assert [len(key) for key in keys] == [LONGEST, LONGEST]
    assert keys[0] != keys[1]
    assert all(key.startswith('{"orders":{"0":0,"1":0,') for key in keys)
    assert Range(start, ends[0]).key == keys[0]


def offsets(at: int) -> str:
    return json.dumps({"orders": {str(number): at for number in range(40)}})
