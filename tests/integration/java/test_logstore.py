"""The log store on a real S3 server: one writer wins, each loser is told so, and nothing else is taken for either."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import obstore
import pytest
from deltalake import DeltaTable
from obstore.exceptions import AlreadyExistsError
from py4j.protocol import Py4JJavaError
from tests.integration.java.logs import CONFLICT, PART, WON, kind, outcome, refused, s3a_conf
from tests.integration.stores import store

from deltaworks.spark.logstore import CONDITIONAL_PUT, log_store_in_force
from deltaworks.spark.session import isolated

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.integration.java.logs import Log
    from tests.servers.faults.client import Faults
    from tests.servers.s3 import S3Server

FIRST = "00000000000000000000.json"


def large(letter: str) -> list[str]:
    """A commit of two parts."""
    return [letter * 1_000_000] * 6


def test_a_commit_is_one_conditional_put_and_nothing_else(log: Log, faults: Faults) -> None:
    faults.add("pass", method="PUT", header=r"If-None-Match: ^\*$")
    faults.add("pass", times=None)

    log.write(FIRST, ["{}", '{"a":"ä"}'])

    assert [(seen.method, seen.path) for seen in faults.seen()] == [("PUT", f"/{faults.bucket}/t/_delta_log/{FIRST}")]
    assert log.read(FIRST) == ["{}", '{"a":"ä"}']


def test_a_second_writer_gets_a_typed_conflict_and_changes_nothing(log: Log) -> None:
    log.write(FIRST, ["ours"])

    error = refused(log, FIRST, ["theirs"])

    assert (kind(error), error.getMessage()) == (CONFLICT, f"{log.folder}/{FIRST}")
    assert log.read(FIRST) == ["ours"]


@pytest.mark.parametrize("theirs", ["our", "ours and more", ""])
def test_a_file_that_is_nearly_the_same_is_not_ours(log: Log, theirs: str) -> None:
    log.write(FIRST, [theirs] if theirs else [])

    assert kind(refused(log, FIRST, ["ours"])) == CONFLICT


def test_a_file_that_may_be_replaced_is(log: Log) -> None:
    log.write("_last_checkpoint", ["1"], overwrite=True)
    log.write("_last_checkpoint", ["2"], overwrite=True)

    assert log.read("_last_checkpoint") == ["2"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_actions_that_fail_half_way_leave_no_file_and_no_upload(log: Log, tmp_path: Path, overwrite: bool) -> None:
    broken = tmp_path / "actions"
    broken.write_bytes(b"whole line\n" * (PART // 10) + b"\xff\n")
    lines = log.jvm.java.nio.file.Files.lines(log.jvm.java.io.File(str(broken)).toPath()).iterator()

    with pytest.raises(Py4JJavaError, match="MalformedInputException"):
        log.write_from(lines, FIRST, overwrite=overwrite)

    log.write("another.json", ["{}"])
    assert log.files() == ["another.json"]
    assert log.pending_uploads() == 0


def test_an_upload_that_is_left_would_be_seen(log: Log) -> None:
    stream = log.file_system.create(log.path(FIRST))
    stream.write(bytearray(PART + 1))

    assert log.pending_uploads() == 1
    stream.abort()
    assert log.pending_uploads() == 0


@pytest.mark.parametrize("reply", ["lost", "lost-500"])
def test_our_own_file_is_not_taken_for_another_writers_when_the_reply_was_lost(
    log: Log, faults: Faults, reply: str
) -> None:
    faults.add(reply, method="PUT")  # type: ignore[arg-type]
    faults.add("pass", method="PUT")

    log.write(FIRST, ["ours"])

    assert [seen.happened for seen in faults.seen()][1:] == ["passed 412"]  # S3A sent it again
    assert log.read(FIRST) == ["ours"]


@pytest.mark.parametrize("reply", ["lost", "lost-500"])
def test_the_same_is_true_of_a_commit_in_several_parts(log: Log, faults: Faults, reply: str) -> None:
    faults.add(reply, method="POST", path="uploadId=", times=None)  # type: ignore[arg-type]

    log.write(FIRST, large("x"))

    assert faults.seen()[0].happened.startswith("lost 200")
    assert log.read(FIRST) == large("x")
    assert log.pending_uploads() == 0


@pytest.mark.parametrize("failure", ["500", "conflict", "cut-request"])
def test_a_failure_while_another_writer_won_is_a_conflict(log: Log, faults: Faults, failure: str) -> None:
    log.write(FIRST, ["theirs"])
    faults.add(failure, method="PUT", times=None)  # type: ignore[arg-type]

    assert kind(refused(log, FIRST, ["ours"])) == CONFLICT


@pytest.mark.parametrize("failure", ["500", "cut-request", "denied", "expired"])
def test_a_failure_that_left_no_file_is_told_as_it_was(log: Log, faults: Faults, failure: str) -> None:
    faults.add(failure, method="PUT", times=None)  # type: ignore[arg-type]

    error = refused(log, FIRST, ["ours"])

    assert kind(error) != CONFLICT
    assert "Writing Object on t/_delta_log" in error.getMessage()
    assert not log.file_system.exists(log.path(FIRST))


def test_a_part_that_cannot_be_sent_leaves_no_file_and_no_upload(log: Log, faults: Faults) -> None:
    faults.add("500", method="PUT", path="partNumber=2", times=None)

    error = refused(log, FIRST, large("x"))

    assert "upload part #2" in error.getMessage()
    assert not log.file_system.exists(log.path(FIRST))
    assert log.pending_uploads() == 0


def test_s3_that_asks_a_writer_to_come_again_is_asked_again(log: Log, faults: Faults) -> None:
    faults.add("conflict", method="PUT", times=2)

    log.write(FIRST, ["ours"])

    assert [seen.happened for seen in faults.seen()] == ["answered 409"] * 2
    assert log.read(FIRST) == ["ours"]


def test_a_commit_in_several_parts_is_sent_again_as_a_whole(log: Log, faults: Faults) -> None:
    faults.add("conflict", method="POST", path="uploadId=")

    log.write(FIRST, large("x"))

    assert log.read(FIRST) == large("x")
    assert log.pending_uploads() == 0


def test_s3_that_never_decides_is_not_asked_for_ever(log: Log, faults: Faults) -> None:
    faults.add("conflict", method="PUT", times=None)

    error = refused(log, FIRST, ["ours"])

    assert "ConditionalRequestConflict" in error.getMessage()
    assert len(faults.seen()) == 3  # the first, and as many as `fs.s3a.retry.limit` says


@pytest.mark.parametrize("reply", ["lost", "pass"])
def test_a_file_that_cannot_be_read_back_is_neither_landed_nor_a_conflict(log: Log, faults: Faults, reply: str) -> None:
    if reply == "pass":
        log.write(FIRST, ["theirs"])
    faults.add(reply, method="PUT")  # type: ignore[arg-type]
    faults.add("denied", method="HEAD|GET", times=None)

    error = refused(log, FIRST, ["ours"])

    assert kind(error) == "org.apache.hadoop.fs.s3a.RemoteFileChangedException"
    assert [kind(beside) for beside in error.getSuppressed()] == ["java.nio.file.AccessDeniedException"]


def test_of_many_writers_of_both_engines_exactly_one_wins(log: Log, faults: Faults) -> None:
    delta_rs = store(faults.s3, faults.bucket)

    def theirs(name: str, line: str) -> str:
        try:
            obstore.put(delta_rs, f"t/_delta_log/{name}", f"{line}\n".encode(), mode="create")
        except AlreadyExistsError:
            return CONFLICT
        return WON

    def attempt(name: str, writer: int) -> str:
        return theirs(name, str(writer)) if writer % 4 == 0 else outcome(log, name, [str(writer)])

    with ThreadPoolExecutor(8) as pool:
        for version in range(5):
            outcomes = list(pool.map(partial(attempt, f"{version:020}.json"), range(8)))

            assert sorted(outcomes) == sorted([WON, *[CONFLICT] * 7])
            assert log.read(f"{version:020}.json") == [str(outcomes.index(WON))]


def test_of_two_large_commits_one_is_whole_and_the_other_is_told(log: Log) -> None:
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda letter: outcome(log, FIRST, large(letter)), "xy"))

    assert sorted(outcomes) == sorted([WON, CONFLICT])
    assert log.read(FIRST) == large("xy"[outcomes.index(WON)])
    assert log.pending_uploads() == 0


def test_a_listing_starts_at_a_name_is_sorted_and_stays_in_the_folder(log: Log, s3: S3Server) -> None:
    data = s3.folder / "data" / log.folder.removeprefix("s3a://")
    for name in ("b.json", "c.json", "_a/b.json", "B.json", "a.json", "bb", "../_delta_log2/d.json"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).touch()

    assert log.names_from("b.json") == ["b.json", "bb", "c.json"]
    assert log.names_from("\0") == ["B.json", "_a", "a.json", "b.json", "bb", "c.json"]
    assert log.names_from("d") == []


def test_a_listing_asks_for_no_name_before_the_one_it_starts_at(log: Log, s3: S3Server, faults: Faults) -> None:
    data = s3.folder / "data" / log.folder.removeprefix("s3a://")
    data.mkdir(parents=True)
    for version in range(300):  # six pages
        (data / f"{version:020}.json").touch()
    faults.add("pass", times=None)

    assert log.names_from(f"{290:020}.json") == [f"{version:020}.json" for version in range(290, 300)]
    assert [seen.method for seen in faults.seen()] == ["GET"]


def test_a_listing_of_a_folder_that_is_not_there_is_an_error(log: Log) -> None:
    with pytest.raises(Py4JJavaError) as raised:
        log.names_from(FIRST)

    assert kind(raised.value.java_exception) == "java.io.FileNotFoundException"


def test_a_file_is_never_seen_half_written(log: Log) -> None:
    assert log.store.isPartialWriteVisible(log.path(FIRST), log.conf) is False


@pytest.mark.parametrize("scheme", ["s3a", "s3"])
def test_delta_commits_through_it(scheme: str, spark: SparkSession, bucket: str, faults: Faults) -> None:
    beside = isolated(spark)
    for key, value in s3a_conf(faults.s3, bucket).items():
        beside.conf.set(key, value)
    faults.add("pass", method="PUT", path=r"_delta_log/\d+\.json", header="If-None-Match", times=None)

    beside.range(3).write.format("delta").save(f"{scheme}://{bucket}/t")

    assert [seen.path.rpartition("/")[2] for seen in faults.seen()] == [FIRST]
    assert DeltaTable(f"s3://{bucket}/t", storage_options=faults.s3.options()).to_pyarrow_table().num_rows == 3


def test_what_is_in_force_is_decided_when_the_session_is_made(spark: SparkSession) -> None:
    beside = isolated(spark)
    beside.conf.set("spark.delta.logStore.s3a.impl", "org.example.Other")

    assert log_store_in_force(beside) == CONDITIONAL_PUT
