"""Pipelines that read new files: each file once, whatever happens in between."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both

import deltaworks
from deltaworks import failpoints
from deltaworks.errors import ConfigError, DeltaworksError, RefusedError, RunError
from deltaworks.lake.listing import Wanted
from deltaworks.lake.log import Log
from deltaworks.vault.storage import Access

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.unit.cli.outcome import Cli

    from deltaworks.runs.result import RunResult

pytestmark = pytest.mark.usefixtures("elsewhere")


class Inbox:
    """A folder of files of JSON, and a pipeline that loads those that are new."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.table = spark, folder / "in", folder / "out"
        self.folder.mkdir()

    def put(self, name: str, *ids: int, at: int | None = None, **more: Any) -> Path:
        """A file with a row for each id, perhaps written at another time."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps({"id": each, **more}) + "\n" for each in ids))
        if at is not None:
            os.utime(path, (at, at))
        return path

    def pipeline(self, mode: str = "Append", path: str = "", **how: Any) -> dict[str, Any]:
        """The pipeline; `how` has more for its parts."""
        params = {"format": "json", "path": f"{self.folder}/{path}", "schema": "id INT", **how.pop("extract", {})}
        return {
            "pipelineId": how.pop("id", "orders"),
            "extract": {
                "sourceType": "File",
                "connectionParams": {key: value for key, value in params.items() if value is not None},
                "options": how.pop("options", {}),
                "incremental": how.pop("incremental", True),
            },
            "load": {"sinkType": "DeltaLake", "connectionParams": {"path": str(self.table), **how.pop("load", {})}},
            "writeMode": mode,
            **how,
        }

    def run(self, mode: str = "Append", **how: Any) -> RunResult:
        """Load what is new."""
        asked = {name: how.pop(name) for name in ("full_refresh", "between") if name in how}
        return deltaworks.run(self.pipeline(mode, **how), spark=self.spark, **asked)

    def landed(self) -> list[Any]:
        """The ids in the table, of which both engines say the same."""
        return sorted(row["id"] for row in both(self.spark, self.table))

    def lists(self, pipeline: str = "orders") -> list[Path]:
        """The lists beside the table."""
        return sorted(self.table.glob(f"_deltaworks/{pipeline}/files/*.json"))

    def position(self) -> dict[str, Any]:
        """What the last commit says."""
        commit = Log(str(self.table)).commit(Log(str(self.table)).latest() or 0).ours
        assert commit is not None
        assert commit.position is not None
        found: dict[str, Any] = commit.position.end
        return found


@pytest.fixture
def inbox(spark: SparkSession, tmp_path: Path) -> Inbox:
    return Inbox(spark, tmp_path)


def when(monkeypatch: pytest.MonkeyPatch, step: str, *acts: Callable[[], object]) -> None:
    """Do something each time that a step is reached, the next time the next thing."""
    left = iter(acts)
    monkeypatch.setattr(failpoints, "reach", lambda name: next(left, bool)() if name == step else None)


def fail() -> None:
    raise RunError("Broken on purpose.", hint="Run it again.")


# What is new


def test_each_file_lands_once_over_many_runs(inbox: Inbox) -> None:
    counts = []
    for number in range(4):
        inbox.put(f"{number}.json", number)
        result = inbox.run()
        counts.append((result.load.rows_inserted, result.load.batches))
    again = inbox.run()

    assert counts == [(1, 1)] * 4
    assert (again.load.batches, Log(str(inbox.table)).latest()) == (0, 3)
    assert inbox.landed() == [0, 1, 2, 3]
    assert again.standing
    assert again.standing.position.startswith("4 files, the newest of 20")
    assert again.standing.end == again.standing.position


def test_a_position_stays_small_however_many_files_were_read(inbox: Inbox) -> None:
    for number in range(40):
        inbox.put(f"a-long-name-of-a-file-{number}.json", number)
    result = inbox.run(incremental={"maxFilesPerBatch": 7})

    assert result.load.batches == 6
    assert inbox.landed() == list(range(40))
    assert len(json.dumps(inbox.position())) < 200
    assert inbox.position()["files"] == 40
    assert inbox.position()["bytes"] == sum(path.stat().st_size for path in inbox.folder.iterdir())
    assert len(inbox.lists()) == 6


def test_a_batch_takes_the_oldest_files_and_at_least_one(inbox: Inbox) -> None:
    for number, at in enumerate((300, 100, 200)):
        inbox.put(f"{number}.json", number, at=at)
    inbox.run(incremental={"maxBytesPerBatch": 1})

    commits = [Log(str(inbox.table)).commit(version).ours for version in range(3)]

    assert [commit.position.end["through"][14:19] for commit in commits if commit and commit.position] == [
        "01:40",
        "03:20",
        "05:00",
    ]


def test_files_are_known_by_name_whatever_clocks_say(inbox: Inbox) -> None:
    inbox.put("b.json", 1, at=2_000_000_000)
    inbox.run()
    inbox.put("a.json", 2, at=2_000_000_000)
    inbox.put("c.json", 3, at=1)

    assert inbox.run().load.rows_inserted == 2
    assert inbox.landed() == [1, 2, 3]


def test_a_file_that_was_just_written_waits_for_its_age(inbox: Inbox) -> None:
    inbox.put("young.json", 1)
    inbox.put("old.json", 2, at=1_700_000_000)

    inbox.run(incremental={"minAge": "1h"})

    assert inbox.landed() == [2]
    inbox.run()
    assert inbox.landed() == [1, 2]


def test_hidden_and_empty_files_are_no_files_yet(inbox: Inbox) -> None:
    inbox.put("_draft.json", 1)
    inbox.put("empty.json")
    assert inbox.run().load.batches == 0
    (inbox.folder / "_draft.json").rename(inbox.folder / "done.json")
    inbox.put("empty.json", 2)

    inbox.run()

    assert inbox.landed() == [1, 2]


def test_a_file_that_is_removed_later_is_no_problem(inbox: Inbox) -> None:
    old = inbox.put("a.json", 1)
    inbox.run()
    old.unlink()
    inbox.put("b.json", 2)

    inbox.run()

    assert inbox.landed() == [1, 2]


def test_a_file_that_comes_during_a_run_is_for_the_next_one(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    inbox.put("a.json", 1)
    when(monkeypatch, "before_commit", lambda: inbox.put("b.json", 2))

    assert inbox.run().load.batches == 1
    assert inbox.landed() == [1]
    inbox.run()
    assert inbox.landed() == [1, 2]


TREE = [
    "a.json",
    "_a.json",
    ".a.json",
    "x._COPYING_",
    "sub/b.json",
    "sub/_tmp/c.json",
    "_sub/d.json",
    "2024-01/a[1] {x}%20ü.json",
    "2024-02/e.json",
]


@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        ("", {}),
        ("*", {}),
        ("*.json", {}),
        ("sub", {}),
        ("_sub", {}),
        ("a.json", {}),
        ("{sub,2024-01}", {}),
        ("2024-0[12]/*", {}),
        ("2024-*/{e,f}.json", {}),
        ("", {"recursiveFileLookup": "true"}),
        ("", {"recursiveFileLookup": "true", "pathGlobFilter": "{a,b}*.json"}),
        ("parts", {}),
        ("parts/day=*", {}),
        ("par*", {}),
        ("nested", {}),
    ],
)
def test_the_files_are_just_those_that_spark_reads(inbox: Inbox, pattern: str, options: dict[str, str]) -> None:
    parts = (
        "parts/day=1/a.json",
        "parts/day=1/sub/b.json",
        "parts/day=2/c.json",
        "parts/.day=3/d.json",
        "nested/sub/day=1/a.json",
    )
    within = pattern.startswith(("par", "nested"))
    for name in parts if within else TREE:
        inbox.put(name, 1)
    path = f"{inbox.folder}/{pattern}"

    read = inbox.spark.read.schema("id INT").options(**options).json(path).select("_metadata.file_path").distinct()
    wanted = Wanted(
        pattern=path, recursive="recursiveFileLookup" in options, named=options.get("pathGlobFilter")
    ).listed(Access())

    assert len(wanted.files) == read.count()
    assert inbox.run(path=pattern, options=options).load.rows_inserted == read.count() > 0


# What is in them


def test_names_with_special_signs_are_plain(inbox: Inbox) -> None:
    for number, name in enumerate(("a[1].json", "{x,y}.json", "st*r?.json", "a b%20c.json", "ü.json", "b\\c.json")):
        inbox.put(name, number)

    assert inbox.run().load.rows_inserted == 6
    assert inbox.landed() == list(range(6))


@pytest.mark.parametrize("schema", ["id INT, day STRING", None])
def test_partition_columns_are_found_in_every_batch(inbox: Inbox, schema: str | None) -> None:
    for day in ("a", "b", "c"):
        inbox.put(f"day={day}/1.json", 1)

    result = inbox.run(extract={"schema": schema}, incremental={"maxFilesPerBatch": 1})

    assert result.load.batches == 3
    assert sorted(row["day"] for row in both(inbox.spark, inbox.table)) == ["a", "b", "c"]


def test_without_a_schema_a_batch_has_the_columns_of_its_files(inbox: Inbox) -> None:
    inbox.put("a.json", 1)
    inbox.run(extract={"schema": None})
    inbox.put("b.json", 2, note="new")

    with pytest.raises(DeltaworksError, match="note"):
        inbox.run(extract={"schema": None})
    inbox.run(extract={"schema": None}, load={"mergeSchema": True})

    assert both(inbox.spark, inbox.table) == [{"id": 1, "note": None}, {"id": 2, "note": "new"}]


def test_a_record_that_cannot_be_read_fails_its_batch_and_the_files_stay_new(inbox: Inbox) -> None:
    inbox.put("a.json", 1)
    bad = inbox.put("b.json", 2)
    bad.write_text('{"id": "x"}\n')

    with pytest.raises(RunError, match=r"b\.json"):
        inbox.run()
    assert inbox.lists() == []
    inbox.put("b.json", 2)
    inbox.run()

    assert inbox.landed() == [1, 2]


def test_a_step_can_name_the_file_of_a_row(inbox: Inbox) -> None:
    inbox.put("a.json", 1)
    name = {"type": "withColumn", "parameters": {"name": "file", "expression": "_metadata.file_name"}}

    inbox.run(transform=[name])

    assert both(inbox.spark, inbox.table) == [{"id": 1, "file": "a.json"}]


def test_rows_that_break_a_rule_are_set_aside_once(inbox: Inbox) -> None:
    rule = {"name": "positive", "check": "id > 0", "onFailure": "setAside"}
    for number in (1, -1, 2):
        inbox.put(f"{number}.json", number)
        inbox.run(expect=[rule])

    assert inbox.landed() == [1, 2]
    assert deltaworks.open_table(f"{inbox.table}_aside").rows == 1


# Files that change


def test_a_file_that_changed_is_refused(inbox: Inbox) -> None:
    inbox.put("a.json", 1)
    inbox.run()
    inbox.put("a.json", 1, 2)
    inbox.put("b.json", 3)

    with pytest.raises(RefusedError, match=r"Files have changed since they were read: .*in/a\.json") as caught:
        inbox.run()

    assert "onChanged: reread" in caught.value.hint
    assert inbox.landed() == [1]


def test_a_file_that_changed_is_read_again_where_that_is_said(inbox: Inbox) -> None:
    how: dict[str, Any] = {"incremental": {"onChanged": "reread"}, "extract": {"schema": "id INT, n INT"}}
    keys = {"load": {"mergeKeys": "id"}}
    inbox.put("a.json", 1, 2, n=1)
    inbox.put("b.json", 3, n=1)
    inbox.run("Upsert", **how, **keys)
    inbox.put("a.json", 1, 2, n=22)

    changed = inbox.run("Upsert", **how, **keys)
    again = inbox.run("Upsert", **how, **keys)

    assert (changed.load.rows_updated, again.load.batches) == (2, 0)
    assert both(inbox.spark, inbox.table) == [{"id": 1, "n": 22}, {"id": 2, "n": 22}, {"id": 3, "n": 1}]


@pytest.mark.parametrize("mode", ["Append", "Upsert"])
@pytest.mark.parametrize("change", ["changes", "goes"])
def test_a_file_that_changes_or_goes_while_it_is_read_fails_the_batch(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch, mode: str, change: str
) -> None:
    keys = {"load": {"mergeKeys": "id"}} if mode == "Upsert" else {}
    inbox.put("a.json", 1)
    inbox.run(mode, **keys)
    path = inbox.put("b.json", 2)
    act = path.unlink if change == "goes" else lambda: inbox.put("b.json", 3, 4)
    when(monkeypatch, "before_batch", act)

    with pytest.raises(RunError, match=r"b\.json") as caught:
        inbox.run(mode, **keys)

    assert "run it again" in caught.value.hint.lower()
    assert inbox.landed() == [1]
    assert len(inbox.lists()) == 1
    inbox.run(mode, **keys)
    assert inbox.landed() == ([1] if change == "goes" else [1, 3, 4])


def test_an_option_that_forgives_lost_files_lets_none_be_lost(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    inbox.put("a.json", 1)
    path = inbox.put("b.json", 2)
    when(monkeypatch, "before_batch", path.unlink)

    with pytest.raises(RunError, match=r"Files changed or went while they were read: .*b\.json"):
        inbox.run(options={"ignoreMissingFiles": "true"})

    assert Log(str(inbox.table)).latest() is None


# Runs that end early


@pytest.mark.parametrize("step", ["after_list", "before_commit", "after_commit", "before_cache", "after_batch"])
@pytest.mark.parametrize("mode", ["Append", "Upsert"])
def test_a_run_that_breaks_off_leaves_each_file_to_land_once(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch, mode: str, step: str
) -> None:
    keys = {"load": {"mergeKeys": "id"}} if mode == "Upsert" else {}
    for round_ in range(2):  # the table is new, and then it is there
        inbox.put(f"{round_}-a.json", 2 * round_)
        inbox.put(f"{round_}-b.json", 2 * round_ + 1)
        with monkeypatch.context() as patch:
            when(patch, step, fail)
            with pytest.raises(DeltaworksError, match="Broken on purpose"):
                inbox.run(mode, **keys)
        inbox.run(mode, **keys)

        assert inbox.landed() == list(range(2 * round_ + 2))
        assert inbox.position()["files"] == 2 * round_ + 2


def test_a_list_whose_commit_did_not_land_is_named_by_nobody(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    inbox.put("a.json", 1)
    with monkeypatch.context() as patch:
        when(patch, "after_list", fail)
        with pytest.raises(RunError):
            inbox.run()
    (left,) = inbox.lists()
    inbox.put("b.json", 2)

    inbox.run()

    assert inbox.landed() == [1, 2]
    assert len(inbox.lists()) == 2
    assert left.name not in inbox.position()["list"]
    left.unlink()
    assert inbox.run().load.batches == 0


def test_a_list_that_is_lost_stops_the_pipeline_until_everything_is_loaded_anew(inbox: Inbox) -> None:
    inbox.put("a.json", 1)
    inbox.put("b.json", 2)
    inbox.run()
    for path in inbox.lists():
        path.unlink()

    with pytest.raises(RefusedError, match=r"extract: Which files were read already is not known") as caught:
        inbox.run()

    assert "--full-refresh" in caught.value.hint
    assert inbox.landed() == [1, 2]
    inbox.run(full_refresh=True)
    inbox.put("c.json", 3)
    inbox.run()
    assert inbox.landed() == [1, 2, 3]


def test_another_pattern_is_another_source(inbox: Inbox) -> None:
    inbox.put("a.json", 1)
    inbox.run()

    with pytest.raises(RefusedError, match="names files:"):
        inbox.run(path="*.json")


# All of it, or a part


def test_a_full_refresh_loads_all_files_there_are_as_one_batch(inbox: Inbox) -> None:
    few = {"maxFilesPerBatch": 1}
    inbox.put("a.json", 1)
    gone = inbox.put("b.json", 2)
    inbox.run(incremental=few)
    gone.unlink()
    inbox.put("a.json", 10)
    inbox.put("c.json", 3)

    result = inbox.run(incremental=few, full_refresh=True)

    assert (result.load.batches, inbox.landed()) == (1, [3, 10])
    assert inbox.position()["files"] == 2
    assert inbox.run(incremental=few).load.batches == 0


def test_a_full_refresh_of_nothing_is_refused(inbox: Inbox) -> None:
    path = inbox.put("a.json", 1)
    inbox.run()
    path.unlink()

    with pytest.raises(ConfigError, match="There is nothing to read at"):
        inbox.run(full_refresh=True)
    assert inbox.landed() == [1]


def test_a_range_of_time_is_loaded_beside_the_position(inbox: Inbox) -> None:
    for number in range(1, 4):
        inbox.put(f"day={number}/{number}.json", number, at=number * 86_400)
    schema = {"schema": "id INT, day INT"}
    inbox.run(extract=schema)

    result = inbox.run(extract=schema, between=("1970-01-02", "1970-01-04"))

    assert (result.load.rows_inserted, inbox.landed()) == (2, [1, 1, 2, 2, 3])
    assert inbox.run(extract=schema).load.batches == 0
    with pytest.raises(ConfigError, match=r"There is nothing to read at .* that was written from 1980"):
        inbox.run(extract=schema, between=("1980-01-01", "1981-01-01"))


def test_a_plan_writes_nothing(inbox: Inbox) -> None:
    inbox.put("a.json", 1)

    file = inbox.folder.with_name("orders.json")
    file.write_text(json.dumps(inbox.pipeline()))

    plan = deltaworks.plan(file, spark=inbox.spark)

    assert plan.reads.startswith("new: 1 file of json files")
    assert not inbox.table.exists()


# Moved by hand


def move(inbox: Inbox, cli: Cli, *said: object, **how: Any) -> None:
    """Move the pipeline as people do."""
    file = inbox.folder.with_name("orders.json")
    file.write_text(json.dumps(inbox.pipeline(**how)))
    command, *more = said
    outcome = cli("state", command, file, *more, "--yes")
    assert outcome.code == 0, outcome


def test_files_since_a_version_are_read_again_after_a_rewind(inbox: Inbox, cli: Cli) -> None:
    for number in range(4):
        inbox.put(f"{number}.json", number)
        inbox.run()

    move(inbox, cli, "rewind", "--to-version", 1)

    assert inbox.run().load.rows_inserted == 2
    assert inbox.landed() == [0, 1, 2, 2, 3, 3]


def test_files_before_a_time_can_be_taken_for_read_when_the_lists_are_lost(inbox: Inbox, cli: Cli) -> None:
    inbox.put("old.json", 1, at=1_600_000_000)
    inbox.run()
    for path in inbox.lists():
        path.unlink()
    inbox.put("new.json", 2)

    move(inbox, cli, "set", "--position", '{"since": "2024-01-01"}')

    for _ in range(2):
        inbox.run()
        assert inbox.landed() == [1, 2]


def test_a_renamed_pipeline_goes_on_where_it_was(inbox: Inbox, cli: Cli) -> None:
    inbox.put("a.json", 1)
    inbox.put("b.json", 2)
    inbox.run()
    inbox.put("c.json", 3)

    move(inbox, cli, "adopt", "orders", id="orders-new")

    for _ in range(2):
        inbox.run(id="orders-new")
        assert inbox.landed() == [1, 2, 3]
    assert len(inbox.lists("orders-new")) == 1
