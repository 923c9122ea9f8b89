from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from deltaworks.errors import ConfigError, SetupError
from deltaworks.spark.home import pyspark_home
from deltaworks.spark.jars import JarStore, ManagedJar, catalogue, jars_of, sha256
from deltaworks.spark.java import Java

ABSENT = Java(path=Path("no-java-here"), version=17, release="none")


@pytest.fixture
def jar(tmp_path: Path) -> ManagedJar:
    (tmp_path / "tool-1.0.jar").write_bytes(b"classes")
    return ManagedJar(group="org.tool", artifact="tool", version="1.0", sha256=sha256(tmp_path / "tool-1.0.jar"))


def store(folder: Path) -> JarStore:
    """A store that would fail if it had to fetch anything."""
    return JarStore(folder=folder, java=ABSENT, spark_home=pyspark_home())


def test_every_jar_of_the_catalogue_has_a_digest_and_a_name_of_its_own() -> None:
    jars = [jar for group in catalogue().values() for jar in group]

    assert len({jar.file_name for jar in jars}) == len(jars) == 51
    assert all(len(jar.sha256) == 64 for jar in jars)


def test_nothing_that_ships_with_spark_is_fetched() -> None:
    shipped = {path.name for path in (pyspark_home() / "jars").glob("*.jar")}

    assert {jar.file_name for group in catalogue().values() for jar in group} & shipped == set()


def test_the_order_of_groups_does_not_change_the_class_path() -> None:
    assert jars_of(["kafka", "delta"]) == jars_of(["delta", "kafka"])


def test_delta_comes_first_so_that_one_archive_fits_all_sessions() -> None:
    assert jars_of(catalogue())[: len(jars_of(["delta"]))] == jars_of(["delta"])


def test_an_unknown_group_is_named_with_the_closest_known_one() -> None:
    with pytest.raises(ConfigError, match="'kafca'") as refused:
        jars_of(["kafca"])
    assert refused.value.hint == "Did you mean 'kafka'?"


def test_jars_that_are_there_need_no_java_and_no_network(tmp_path: Path, jar: ManagedJar) -> None:
    assert store(tmp_path).ensure((jar,)) == (tmp_path / "tool-1.0.jar",)


def test_a_damaged_jar_is_named_with_what_was_found_and_how_to_delete_it(tmp_path: Path, jar: ManagedJar) -> None:
    file = tmp_path / "tool-1.0.jar"
    file.write_bytes(b"damaged")

    with pytest.raises(SetupError, match="is damaged") as refused:
        store(tmp_path).ensure((jar,))
    assert str(file) in str(refused.value)
    assert jar.sha256 in str(refused.value)
    assert sha256(file) in str(refused.value)
    assert f"rm {file}" in refused.value.hint


def test_a_jar_damaged_after_it_was_verified_is_seen(tmp_path: Path, jar: ManagedJar) -> None:
    store(tmp_path).ensure((jar,))
    (tmp_path / "tool-1.0.jar").write_bytes(b"damages")  # as long as before

    with pytest.raises(SetupError, match="damaged"):
        store(tmp_path).ensure((jar,))


def test_a_verified_jar_that_did_not_change_is_not_read_again(tmp_path: Path, jar: ManagedJar) -> None:
    store(tmp_path).ensure((jar,))
    file = tmp_path / "tool-1.0.jar"
    before = file.stat()
    file.write_bytes(b"changed")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert store(tmp_path).ensure((jar,)) == (file,)  # only reading it could tell


def test_a_new_version_in_the_catalogue_is_checked_against_its_own_digest(tmp_path: Path, jar: ManagedJar) -> None:
    store(tmp_path).ensure((jar,))
    other = ManagedJar(group=jar.group, artifact=jar.artifact, version=jar.version, sha256="0" * 64)

    with pytest.raises(SetupError, match="damaged"):
        store(tmp_path).ensure((other,))


@pytest.mark.parametrize("notes", ["", "[]", '{"tool-1.0.jar": 7}'])
def test_damaged_notes_only_cost_a_second_look(tmp_path: Path, jar: ManagedJar, notes: str) -> None:
    (tmp_path / "verified.json").write_text(notes)

    store(tmp_path).ensure((jar,))

    assert json.loads((tmp_path / "verified.json").read_text())["tool-1.0.jar"][2] == jar.sha256


def test_a_spark_without_ivy_says_how_to_mend_it(tmp_path: Path, jar: ManagedJar) -> None:
    (tmp_path / "jars").mkdir()
    empty = JarStore(folder=tmp_path / "cache", java=ABSENT, spark_home=tmp_path)

    with pytest.raises(SetupError, match="No Ivy jar"):
        empty.ensure((jar,))
