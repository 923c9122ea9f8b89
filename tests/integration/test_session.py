"""Sessions in processes of their own: how they start, what they promise, how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from deltaworks.spark.logstore import CONDITIONAL_PUT, SINGLE_DRIVER
from tests.jars import OLD_DELTA, kept

if TYPE_CHECKING:
    from tests.servers.s3 import S3Server

LIMIT = 240  # seconds
START = """
import os, sys
from pathlib import Path
from deltaworks.api import cache_folder
from deltaworks.errors import DeltaworksError
from deltaworks.spark.logstore import log_store_in_force, logstore_jar
from deltaworks.spark.session import check_platform, close_session, isolated, open_session, warm_up
from deltaworks.spark.settings import SparkSettings

cache = cache_folder(os.environ)
QUICK = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1", "spark.driver.memory": "1g"}

def settings(conf={}, **more):
    return SparkSettings(**{"cache": cache, "master": "local[2]", "conf": {**QUICK, **conf}} | more)

def refusal(act):
    try:
        act()
    except DeltaworksError as error:
        return f"{type(error).__name__}: {error} | {error.hint}"
"""


def python(code: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", START + dedent(code)]
    environment = {**os.environ, **variables}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)


def said(code: str, cwd: Path, **variables: str) -> list[str]:
    done = python(code, cwd, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_session_commits_quietly_and_leaves_no_trace(tmp_path: Path) -> None:
    lines = said(
        """
        conf = {"spark.hadoop.fs.s3a.secret.key": "canary-7f3a"}
        spark = open_session(settings(conf))
        pid = spark.sparkContext._gateway.proc.pid
        print("canary" in Path(f"/proc/{pid}/cmdline").read_text(), spark.sparkContext.getConf().get(*conf))

        # None of the jars of S3 is here, and it must not matter.
        log_store = spark._jvm.org.apache.spark.util.Utils.classForName(log_store_in_force(spark), True, False)
        print(log_store.getName())

        beside = isolated(spark)
        beside.range(10).write.format("delta").save("table")
        print(beside.read.format("delta").load("table").count())

        beside.udf.register("python", lambda: sys.executable)
        print(beside.sql("SELECT python()").first()[0] == sys.executable)

        check_platform(beside)
        spark.conf.set("spark.databricks.delta.commitInfo.userMetadata", "theirs")
        print(isolated(spark).conf.get("spark.databricks.delta.commitInfo.userMetadata", "none"))
        print(refusal(lambda: warm_up(settings())))
        try:
            beside.sql("SELECT nothing FROM nowhere")
        except Exception as error:
            print(type(error).__name__)
        close_session(spark)
        """,
        tmp_path,
        SPARK_REMOTE="sc://elsewhere",
        PYSPARK_PIN_THREAD="false",
    )

    secret_on_command_line, log_store, rows, same_python, stamp, second, failure = lines
    assert secret_on_command_line == "False canary-7f3a"
    assert log_store == CONDITIONAL_PUT
    assert (rows, same_python, stamp, failure) == ("10", "True", "none", "AnalysisException")
    assert second.startswith("SetupError: A Spark session is already open")
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_a_closed_session_makes_room_for_the_next(tmp_path: Path) -> None:
    lines = said(
        """
        for partitions in ("3", "5"):
            spark = open_session(settings({"spark.sql.shuffle.partitions": partitions}))
            print(spark.conf.get("spark.sql.shuffle.partitions"), spark.sparkContext._gateway.proc.pid)
            close_session(spark)
        """,
        tmp_path,
    )

    (first, first_jvm), (second, second_jvm) = (line.split() for line in lines)
    assert (first, second) == ("3", "5")
    assert first_jvm != second_jvm


def test_a_killed_process_takes_its_jvm_with_it(tmp_path: Path) -> None:
    code = START + "jvm = warm_up(settings()).jvm\njvm.wait()\nprint(jvm.process.pid, flush=True)\nsys.stdin.read()"
    started = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    jvm = Path("/proc") / started.stdout.readline().strip()
    assert jvm.exists()

    started.send_signal(signal.SIGKILL)
    started.wait()

    assert _gone(jvm)


def _gone(process: Path) -> bool:
    give_up = time.monotonic() + 30
    while process.exists() and "Z" not in (process / "stat").read_text().split()[2]:
        if time.monotonic() > give_up:
            return False
        time.sleep(0.1)
    return True


def test_a_jvm_that_cannot_start_is_one_clear_error(tmp_path: Path) -> None:
    lines = said(
        """
        from deltaworks.spark.session import archive_of
        archive = archive_of(settings())
        before = archive.folder.exists()
        print(refusal(lambda: open_session(settings({"spark.driver.memory": "1k"}))))
        print(archive.folder.exists() is before)
        """,
        tmp_path,
    )

    assert lines[1] == "True"  # the class archive is not to blame
    assert "did not start" in lines[0]
    assert "Too small" in lines[0]
    assert "spark.driver.memory" in lines[0]


@pytest.mark.parametrize("master", ["sc://127.0.0.1:9", "spark://127.0.0.1:9"])
def test_a_master_that_is_not_there_is_one_quick_error(tmp_path: Path, master: str) -> None:
    start = time.monotonic()
    lines = said(f"print(refusal(lambda: open_session(settings(master={master!r}))))", tmp_path)

    assert lines[0].startswith(f"SetupError: Nobody listens on {master}. | Is the ")
    assert time.monotonic() - start < 30


def test_a_bad_class_archive_is_passed_over(tmp_path: Path) -> None:
    lines = said(
        """
        from deltaworks.spark.session import archive_of
        mine = settings(cache=Path.cwd())
        (Path.cwd() / "jars").symlink_to(cache / "jars")
        archive = archive_of(mine)
        with archive.making() as draft:
            draft.write_bytes(b"no archive" * 1000)
            archive.keep(draft)
        spark = open_session(mine)
        print(spark.range(3).count())
        """,
        tmp_path,
    )

    assert lines == ["3"]


def test_training_makes_an_archive_that_the_jvm_takes_whatever_jars_come_after(tmp_path: Path) -> None:
    # In the cache of all tests, and before most of them: every JVM they start is the quicker for it.
    lines = said(
        """
        import time
        from zipfile import ZipFile
        from deltaworks.spark.session import archive_of
        from deltaworks.spark.training import make
        with ZipFile("more.jar", "w") as jar:
            jar.writestr("nothing.txt", "")
        strict = {  # refuse to start without the archive
            "spark.driver.extraJavaOptions": "-Xshare:on", "spark.driver.extraClassPath": "more.jar"
        }
        archive = archive_of(settings())
        make(settings())
        while not archive.ready():  # a run of before may be making it
            time.sleep(0.5)
        warm_up(settings(strict, groups=frozenset({"delta", "s3"}))).jvm.wait()
        print(archive.wanted())
        """,
        tmp_path,
    )

    assert lines == ["False"]


def test_a_platforms_own_delta_and_its_running_session_are_used(tmp_path: Path) -> None:
    lines = said(
        """
        from deltaworks.spark.jars import jars_of
        ours = ",".join(str(cache / "jars" / jar.file_name) for jar in jars_of({"delta"}))
        platform = open_session(settings({"spark.jars": ours}, jars="provided"))
        platform.range(3).write.format("delta").save("table")
        log_store = platform._jvm.org.apache.spark.util.Utils.classForName(log_store_in_force(platform), True, False)
        print(log_store.getName())
        again = open_session(settings(jars="provided"))
        print(again.sparkContext is platform.sparkContext, again.read.format("delta").load("table").count())
        close_session(platform)
        """,
        tmp_path,
    )

    assert lines == [CONDITIONAL_PUT, "True 3"]


def test_a_session_that_somebody_else_started_may_not_write_to_a_bucket(
    tmp_path: Path, s3: S3Server, bucket: str
) -> None:
    done = python(
        f"""
        import deltaworks
        from pyspark.sql import SparkSession
        from deltaworks.spark.jars import jars_of
        jars = ",".join(str(cache / "jars" / jar.file_name) for jar in jars_of({{"delta", "s3"}}))
        delta = "io.delta.sql.DeltaSparkSessionExtension", "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        theirs = SparkSession.builder.master("local[1]").config("spark.jars", jars)
        theirs.config("spark.sql.extensions", delta[0]).config("spark.sql.catalog.spark_catalog", delta[1])
        load = {{"sinkType": "DeltaLake", "path": "s3a://{bucket}/t"}}
        result = deltaworks.load(theirs.getOrCreate().range(1), load, "Append")
        print(result.success, result.error, "|", result.hint)
        """,
        tmp_path,
        **s3.options(),
    )

    said = f"This Spark session commits to s3a://{bucket} with {SINGLE_DRIVER}, which is safe for one driver only."
    assert done.stdout.startswith(f"False load: {said}")
    assert "singleDriver: true" in done.stdout
    assert not [path for path in (s3.folder / "data" / bucket).rglob("*") if path.is_file()]


def test_what_spark_submit_starts_gets_our_jars_and_the_users(tmp_path: Path) -> None:
    lines = said(
        """
        jars = warm_up(settings({"spark.jars": "mine.jar"})).conf["spark.jars"].split(",")
        print(jars[-1], jars[-2] == str(logstore_jar()), any("delta-spark" in jar for jar in jars))
        """,
        tmp_path,
    )

    assert lines == ["mine.jar True True"]


def test_a_platform_with_another_delta_is_refused_by_name(tmp_path: Path) -> None:
    # Delta 4.0 was built for Spark 4.0: with ours it would fail somewhere in the middle of a write.
    jars = ",".join(map(str, kept(OLD_DELTA)))

    lines = said(
        f"""
        print(refusal(lambda: open_session(settings({{"spark.jars": {jars!r}}}, jars="provided"))))
        print(refusal(lambda: open_session(settings(jars="provided"))))
        """,
        tmp_path,
    )

    assert lines[0].startswith("SetupError: This session runs Delta Lake 4.0.0; Deltaworks needs Delta Lake 4.4")
    assert "jars: managed" in lines[0]
    assert lines[1].startswith("SetupError: This session has no Delta Lake on its class path.")
