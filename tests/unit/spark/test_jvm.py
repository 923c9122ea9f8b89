from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from deltaworks.errors import SetupError
from deltaworks.spark.java import Java
from deltaworks.spark.jvm import Jvm, JvmPlan, memory_and_options

if TYPE_CHECKING:
    from pathlib import Path


def plan(folder: Path, script: str, log: Path | None = None) -> JvmPlan:
    program = folder / "java"
    program.write_text(f"#!/bin/bash\n{script}\n")
    program.chmod(0o755)
    java = Java(path=program, version=17, release="fake")
    return JvmPlan(java=java, spark_home=folder, class_path=("a.jar", "b.jar"), log=log)


def test_the_class_path_keeps_its_order(tmp_path: Path) -> None:
    assert "a.jar:b.jar" in plan(tmp_path, "").command()


def test_one_record_of_avro_cannot_claim_all_memory_unless_the_user_says_so(tmp_path: Path) -> None:
    limit = "-Dorg.apache.avro.limits.bytes.maxLength="
    command = replace(plan(tmp_path, ""), options=(f"{limit}7",)).command()

    assert [word for word in command if word.startswith(limit)] == [f"{limit}67108864", f"{limit}7"]  # the last counts


def test_half_of_the_machine_is_the_heap_unless_told_otherwise() -> None:
    assert memory_and_options({})[0] == "-XX:MaxRAMPercentage=50"
    assert memory_and_options({"spark.driver.memory": "3g"})[0] == "-Xmx3g"


def test_a_collector_that_the_user_chose_is_the_only_one() -> None:
    chosen = memory_and_options({"spark.driver.extraJavaOptions": "-XX:+UseZGC"})

    assert [word for word in memory_and_options({}) if word.endswith("GC")] == ["-XX:+UseParallelGC"]
    assert [word for word in chosen if word.endswith("GC")] == ["-XX:+UseZGC"]


def test_java_options_of_the_user_are_split_as_a_shell_would() -> None:
    options = memory_and_options({"spark.driver.extraJavaOptions": "-Da='b c' -XX:+UseParallelGC"})

    assert options[1:] == ("-Da=b c", "-XX:+UseParallelGC")


def test_the_address_of_the_jvm_is_what_it_wrote_down(tmp_path: Path) -> None:
    script = r"""printf '\000\000\004\001\000\000\000\003abc' > "$_PYSPARK_DRIVER_CONN_INFO_PATH"; cat"""
    jvm = Jvm(plan(tmp_path, script))

    assert jvm.wait() == (1025, "abc")
    assert jvm.process.stdin is not None
    jvm.process.stdin.close()
    assert jvm.process.wait(10) == 0


@pytest.mark.parametrize("logged", [True, False])
def test_a_jvm_that_does_not_start_says_why(tmp_path: Path, logged: bool) -> None:
    script = "echo 'Error occurred during initialization of VM' >&2; echo 'Too small heap' >&2; exit 1"

    with pytest.raises(SetupError, match="Too small heap") as failed:
        Jvm(plan(tmp_path, script, tmp_path / "spark.log" if logged else None)).wait()
    assert "spark.driver.memory" in failed.value.hint


def test_a_jvm_that_is_not_needed_ends_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    jvm = Jvm(plan(tmp_path, "exec sleep 60"))
    jvm.cancel()

    assert jvm.process.poll() is not None
    assert [path.name for path in tmp_path.iterdir()] == ["java"]


def test_options_of_the_plan_come_after_those_that_are_added(tmp_path: Path) -> None:
    mine = replace(plan(tmp_path, ""), options=("-Xshare:off",))

    assert mine.with_options(("-Xshare:auto",)).options == ("-Xshare:auto", "-Xshare:off")
