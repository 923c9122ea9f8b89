from __future__ import annotations

from pathlib import Path

import pytest

from deltaworks.spark.settings import SparkSettings


def settings(master: str, **conf: str) -> SparkSettings:
    return SparkSettings(cache=Path("cache"), master=master, conf={key.replace("_", "."): v for key, v in conf.items()})


def test_by_default_spark_runs_here_on_every_core_with_managed_jars() -> None:
    default = SparkSettings(cache=Path("cache"))

    assert (default.master, default.jars, default.groups) == ("local[*]", "managed", frozenset({"delta"}))


@pytest.mark.parametrize("master", ["local", "local[*]", "local[4]", "local-cluster[1,1,1024]", "spark://host:7077"])
def test_a_plain_driver_is_started_directly(master: str) -> None:
    assert settings(master).direct


@pytest.mark.parametrize("master", ["yarn", "k8s://https://host:6443", "sc://host"])
def test_masters_that_need_more_are_left_to_spark_submit(master: str) -> None:
    assert not settings(master).direct


def test_packages_of_the_users_own_are_left_to_spark_submit() -> None:
    assert not settings("local[*]", spark_jars_packages="org:tool:1.0").direct


def test_a_platforms_own_jars_are_left_to_spark_submit() -> None:
    assert not SparkSettings(cache=Path("cache"), jars="provided").direct


def test_a_connect_server_is_remote() -> None:
    assert settings("sc://host:15002").remote
    assert not settings("sc://host:15002").local


def test_a_session_with_more_jars_serves_as_well() -> None:
    more = SparkSettings(cache=Path("cache"), groups=frozenset({"delta", "avro"}))
    kafka = SparkSettings(cache=Path("cache"), groups=frozenset({"delta", "kafka"}))

    assert SparkSettings(cache=Path("cache")).with_jars_of(more) == more
    assert kafka.with_jars_of(more).groups == {"delta", "avro", "kafka"}
    assert settings("yarn").with_jars_of(more) == settings("yarn")
