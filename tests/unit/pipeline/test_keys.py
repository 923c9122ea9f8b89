from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.pipeline.files import config, pipeline
from tests.unit.tables import append, land, restore

from deltaworks.errors import ConfigError, RefusedError
from deltaworks.lake.commit import Mark
from deltaworks.pipeline.keys import commit_for, shortened
from deltaworks.runs.process import Process, user_name

if TYPE_CHECKING:
    from pathlib import Path

    from deltaworks.lake.commit import Commit
    from deltaworks.runs.result import LoadResult


def decided(path: Path, key: str | None = "monday", **how: Any) -> tuple[Commit, LoadResult | None]:
    sink = config(pipeline(load__connectionParams__path=str(path))).load
    return commit_for(sink, **{"run_id": "run-1", "pipeline": "orders", "key": key, **how})


def test_a_plain_load_carries_no_mark(tmp_path: Path) -> None:
    commit, landed = decided(tmp_path, None)

    assert landed is None
    assert (commit.mark, commit.key, commit.seen) == (None, None, -1)
    assert (commit.run_id, commit.pipeline) == ("run-1", "orders")
    assert (commit.user, commit.host) == (user_name(), Process.current().host)


def test_a_commit_knows_the_version_it_was_decided_on(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path)

    assert decided(tmp_path, None)[0].seen == 1


def test_a_first_keyed_load_takes_the_first_mark(tmp_path: Path) -> None:
    commit, landed = decided(tmp_path)

    assert landed is None
    assert commit.mark == Mark("deltaworks/orders#monday", 1)
    assert commit.key == "monday"


def test_a_second_load_with_the_same_key_has_landed_already(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")

    _, landed = decided(tmp_path)

    assert landed is not None
    assert (landed.success, landed.already_landed, landed.version) == (True, True, 1)


def test_other_keys_do_not_matter(tmp_path: Path) -> None:
    land(tmp_path, "sunday")

    assert decided(tmp_path)[1] is None


def test_landing_again_on_purpose_takes_the_next_mark(tmp_path: Path) -> None:
    land(tmp_path, "monday")

    commit, landed = decided(tmp_path, again=True)

    assert landed is None
    assert commit.mark == Mark("deltaworks/orders#monday", 2)


def test_a_key_that_a_restore_took_back_is_refused(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    restore(tmp_path, 0)

    with pytest.raises(RefusedError):
        decided(tmp_path)

    assert decided(tmp_path, again=True)[0].mark == Mark("deltaworks/orders#monday", 2)


def test_without_a_pipeline_there_is_no_mark(tmp_path: Path) -> None:
    commit, landed = decided(tmp_path, pipeline=None)

    assert (commit.mark, landed) == (None, None)


@pytest.mark.parametrize("key", ["2024-01-01", "a b", "ü", "#", "x" * 256, "a/b"])
def test_a_key_is_any_printable_text(tmp_path: Path, key: str) -> None:
    commit, _ = decided(tmp_path, key)

    assert commit.mark == Mark(f"deltaworks/orders#{key}", 1)


@pytest.mark.parametrize("key", ["", "  ", " a", "a ", "x" * 257, "a\nb", "a\tb", "\x00", "\u2028", "\udcff"])
def test_a_key_that_could_not_be_read_back_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError, match="1 to 256 printable"):
        decided(tmp_path, key)


@pytest.mark.parametrize("key", ["x" * 257, "ü" * 1000])
def test_a_key_that_was_shortened_is_a_key(tmp_path: Path, key: str) -> None:
    commit, _ = decided(tmp_path, shortened(key))

    assert commit.key == shortened(key) != shortened(key + "x")


def test_a_key_that_is_short_enough_stays_as_it_is() -> None:
    assert shortened("x" * 256) == "x" * 256


def test_files_take_no_keys(tmp_path: Path) -> None:
    sink = config(
        pipeline(load={"sinkType": "File", "connectionParams": {"format": "csv", "path": str(tmp_path)}})
    ).load

    with pytest.raises(ConfigError, match="This sink carries no marks"):
        commit_for(sink, run_id="run-1", pipeline="orders", key="monday")
