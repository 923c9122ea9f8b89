"""Positions that were moved by hand: what the next run lands then, and who is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import deltaworks
from deltaworks.cli.edge import workspace
from deltaworks.lake.moves import OvertakenError
from deltaworks.lake.positions import GivenUpError, RecreatedError, TakenBackError
from deltaworks.pipeline.incremental import RenamedError, TakenOverError
from deltaworks.pipeline.state import adopt, incremental, set_to
from tests.integration.increments import (
    batches,
    changed,
    following,
    ids,
    insert,
    meanwhile,
    pipeline,
    run,
    table,
)
from tests.integration.rows import both, stored

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from deltaworks.lake.positions import Reached
    from deltaworks.pipeline.config import PipelineConfig
    from tests.servers.database import TestDatabase
    from tests.servers.topic import TestTopic
    from tests.unit.cli.outcome import Cli

    State = Callable[..., dict[str, Any]]


pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def source(spark: SparkSession, tmp_path: Path) -> Path:
    """A table with two rows."""
    return table(spark, tmp_path / "in", "(1), (2)")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def state(cli: Cli, tmp_path: Path) -> State:
    """Call `deltaworks state` with a pipeline, and read what it says."""

    def call(verb: str, config: dict[str, Any], *words: object) -> dict[str, Any]:
        (tmp_path / "it.json").write_text(json.dumps(config))
        yes = [] if verb == "show" else ["--yes"]
        outcome = cli("state", verb, "it.json", *words, *yes, "--json")
        assert outcome.code == 0, outcome.err
        return dict(outcome.json)

    return call


def restored(spark: SparkSession, source: Path, out: Path) -> None:
    """Land two batches, and take the second back."""
    run(spark, following(source), out)
    insert(spark, source, "(3)")
    run(spark, following(source), out)
    changed(spark, out, "RESTORE TABLE it TO VERSION AS OF 0")
    with pytest.raises(TakenBackError):
        run(spark, following(source), out)


def test_rows_that_a_restore_took_land_again_once_after_a_rewind(
    spark: SparkSession, source: Path, out: Path, state: State
) -> None:
    restored(spark, source, out)
    config = pipeline(following(source), out)

    state("rewind", config, "--to-version", 0)
    plan = deltaworks.plan("it.json", spark=spark)
    again = run(spark, following(source), out)

    assert "version 2 up to version 3" in plan.reads
    assert again.load.rows_inserted == 1
    assert ids(both(spark, out)) == [1, 2, 3]
    insert(spark, source, "(4)")
    run(spark, following(source), out)
    assert ids(both(spark, out)) == [1, 2, 3, 4]
    assert [each.marks[0].version for each in batches(out)] == [1, 2, 3, 4, 5]


def test_rows_that_a_restore_took_stay_away_after_keep(
    spark: SparkSession, source: Path, out: Path, state: State
) -> None:
    restored(spark, source, out)

    state("keep", pipeline(following(source), out))

    assert run(spark, following(source), out).load.batches == 0
    insert(spark, source, "(4)")
    run(spark, following(source), out)
    assert ids(both(spark, out)) == [1, 2, 4]


def test_a_pipeline_with_a_new_name_goes_on_and_the_old_name_is_told(
    spark: SparkSession, source: Path, out: Path, state: State
) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")
    with pytest.raises(RenamedError):
        run(spark, following(source), out, pipelineId="sales")

    state("adopt", pipeline(following(source), out, pipelineId="sales"), "orders")
    run(spark, following(source), out, pipelineId="sales")

    assert ids(both(spark, out)) == [1, 2, 3]
    insert(spark, source, "(4)")
    with pytest.raises(GivenUpError, match="'sales' goes on in its place"):
        run(spark, following(source), out)
    assert ids(stored(out)) == [1, 2, 3]


def test_an_upsert_that_was_set_to_an_earlier_position_repairs_rows(
    spark: SparkSession, out: Path, tmp_path: Path, state: State
) -> None:
    source = table(spark, tmp_path / "in", "(1, 1)", "(2, 1)", columns="id INT, n INT")
    load: dict[str, Any] = {"load": {"mergeKeys": "id"}}
    run(spark, following(source), out, "Upsert", **load)
    changed(spark, out, "UPDATE it SET n = 0")

    state("set", pipeline(following(source), out, "Upsert", **load), "--position", 2, "--why", "row 2 was spoilt")
    run(spark, following(source), out, "Upsert", **load)

    assert both(spark, out) == [{"id": 1, "n": 0}, {"id": 2, "n": 1}]
    assert run(spark, following(source), out, "Upsert", **load).load.batches == 0


def test_the_beginning_is_all_rows(spark: SparkSession, source: Path, out: Path, state: State) -> None:
    load: dict[str, Any] = {"load": {"mergeKeys": "id"}}
    run(spark, following(source), out, "Upsert", **load)
    changed(spark, out, "DELETE FROM it")

    state("set", pipeline(following(source), out, "Upsert", **load), "--position", "null")
    run(spark, following(source), out, "Upsert", **load)

    assert ids(both(spark, out)) == [1, 2]


@pytest.mark.parametrize("step", ["before_batch", "before_commit"])
def test_a_run_whose_position_was_moved_meanwhile_lands_nothing_and_is_told(
    spark: SparkSession,
    source: Path,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")
    moved: list[Reached] = []

    def somebody_moves_it() -> None:
        move = set_to(_located(pipeline(following(source), out)), "2")
        moved.append(move.config.load.move(move.commit))

    meanwhile(monkeypatch, step, somebody_moves_it)

    with pytest.raises(TakenOverError, match="batch 2 of this run did not land") as told:
        run(spark, following(source), out)

    assert moved[0].by in str(told.value)
    assert ids(both(spark, out)) == [1, 2]
    run(spark, following(source), out)
    assert ids(both(spark, out)) == [1, 2, 3]


# Other neighbours


def test_offsets_of_a_topic_can_be_set_and_are_read_from_there(
    spark: SparkSession, topic: TestTopic, out: Path, state: State
) -> None:
    source = {**topic.source(schema="id INT"), "incremental": True}
    topic.send({"id": 1}, {"id": 2}, {"id": 3}, partition=0)
    topic.send({"id": 4}, partition=1)
    run(spark, source, out)

    moved = state("set", pipeline(source, out), "--position", json.dumps({topic.name: {"0": 2, "1": 1}}))
    shown = state("show", pipeline(source, out))
    run(spark, source, out)

    assert (moved["from"], moved["to"]) == ("partition 0 at 3, partition 1 at 1", "partition 0 at 2, partition 1 at 1")
    assert (shown["stand"]["told"], shown["end"]) == (moved["to"], moved["from"])
    assert ids(both(spark, out)) == [1, 2, 3, 3, 4]


@pytest.mark.parametrize(
    ("offsets", "why"),
    [('{"0": 99, "1": 0}', "offset"), ('{"0": 0}', "does not name"), ('{"0": "x", "1": 0}', "no position"), ("5", "")],
)
def test_offsets_that_a_topic_does_not_have_are_refused(
    topic: TestTopic, out: Path, cli: Cli, spark: SparkSession, offsets: str, why: str
) -> None:
    source = {**topic.source(schema="id INT"), "incremental": True}
    topic.send({"id": 1})
    run(spark, source, out)
    (out.parent / "it.json").write_text(json.dumps(pipeline(source, out)))

    outcome = cli("state", "set", "it.json", "--position", f'{{"{topic.name}": {offsets}}}', "--yes")

    assert outcome.code in {2, 4}
    assert len(outcome.error) == 2
    assert why in outcome.error[0].lower()
    assert len(batches(out)) == 1


def into(database: TestDatabase, source: Path, **parts: Any) -> dict[str, Any]:
    """A pipeline into a table of a database."""
    return {
        "pipelineId": "orders",
        "extract": following(source),
        "load": database.sink(table="orders"),
        "writeMode": "Append",
        **parts,
    }


def landed(database: TestDatabase) -> list[int]:
    return sorted(number for (number,) in database.rows("SELECT id FROM orders"))


@pytest.fixture
def known(database: TestDatabase, monkeypatch: pytest.MonkeyPatch) -> TestDatabase:
    """A database whose credential the environment holds, for the commands."""
    knowing(database, monkeypatch)
    return database


def knowing(database: TestDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in database.credential.items():
        monkeypatch.setenv(f"DELTAWORKS_DB__{name.upper()}", value)


def test_a_position_in_a_database_is_shown_and_moved_there(
    spark: SparkSession, source: Path, known: TestDatabase, state: State, cli: Cli
) -> None:
    config = into(known, source)
    deltaworks.run(config, spark=spark, vault=known.vault())
    insert(spark, source, "(3)")
    deltaworks.run(config, spark=spark, vault=known.vault())

    moved = state("set", config, "--position", 2, "--why", "once more")
    shown = state("show", config)
    deltaworks.run(config, spark=spark, vault=known.vault())

    assert (moved["from"], moved["to"], moved["version"]) == ("version 3", "version 2", None)
    assert (shown["stand"]["batch"], shown["stand"]["told"], shown["problem"]) == (3, "version 2", None)
    assert [each["why"] for each in shown["moves"]] == ["once more"]
    assert landed(known) == [1, 2, 3, 3]
    rewound = cli("state", "rewind", "it.json", "--to-version", 0)
    assert "no versions" in rewound.error[0]
    assert "state set" in rewound.error[1]


def test_a_table_of_a_database_that_was_made_anew_is_kept_on_demand(
    spark: SparkSession, source: Path, pg: TestDatabase, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowing(pg, monkeypatch)
    config = into(pg, source)
    deltaworks.run(config, spark=spark, vault=pg.vault())
    pg.run("DROP TABLE orders", "CREATE TABLE orders (id INT)")
    insert(spark, source, "(3)")
    with pytest.raises(RecreatedError):
        deltaworks.run(config, spark=spark, vault=pg.vault())

    state("keep", config)
    deltaworks.run(config, spark=spark, vault=pg.vault())

    assert landed(pg) == [3]


def test_a_position_in_a_database_is_adopted_and_its_old_name_is_told(
    spark: SparkSession, source: Path, known: TestDatabase, state: State
) -> None:
    config, renamed = into(known, source), into(known, source, pipelineId="sales")
    deltaworks.run(config, spark=spark, vault=known.vault())
    insert(spark, source, "(3)")

    state("adopt", renamed, "orders")
    deltaworks.run(renamed, spark=spark, vault=known.vault())

    assert landed(known) == [1, 2, 3]
    with pytest.raises(GivenUpError):
        deltaworks.run(config, spark=spark, vault=known.vault())


def test_a_name_whose_run_got_further_while_it_was_adopted_is_not_given_up(
    spark: SparkSession, source: Path, known: TestDatabase
) -> None:
    config, renamed = into(known, source), into(known, source, pipelineId="sales")
    deltaworks.run(config, spark=spark, vault=known.vault())
    insert(spark, source, "(3)")
    move = adopt(_located(renamed), "orders")
    deltaworks.run(config, spark=spark, vault=known.vault())

    with pytest.raises(OvertakenError, match="a run of 'orders'"):
        move.config.load.move(move.commit)

    insert(spark, source, "(4)")
    deltaworks.run(config, spark=spark, vault=known.vault())
    assert landed(known) == [1, 2, 3, 4]


def _located(config: dict[str, Any]) -> PipelineConfig:
    """The pipeline as a command has it, knowing its two ends."""
    file = Path("it.json")
    file.write_text(json.dumps(config))
    space = workspace(file)
    return incremental(space.read(file), space.around(space.read(file)))
