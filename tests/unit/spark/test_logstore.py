from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pyspark import SparkConf

from deltaworks.errors import SetupError
from deltaworks.spark import logstore
from deltaworks.spark.logstore import CONDITIONAL_PUT, SINGLE_DRIVER, log_store_in_force, logstore_jar

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "org.example.LogStore"


def classic(conf: dict[str, str]) -> Any:
    """A session as far as it is asked here: its context's conf, and one of its own that says otherwise."""
    made_with = SparkConf(loadDefaults=False).setAll(list(conf.items()))
    return SimpleNamespace(
        sparkContext=SimpleNamespace(_conf=made_with), conf={"spark.delta.logStore.s3a.impl": "set later"}
    )


class Remote:
    """A session of Spark Connect as far as it is asked here."""

    __module__ = "pyspark.sql.connect.session"

    def __init__(self, conf: dict[str, str]) -> None:
        self.conf = conf


@pytest.mark.parametrize(
    ("conf", "expected"),
    [
        ({}, SINGLE_DRIVER),
        ({"spark.delta.logStore.s3a.impl": CONDITIONAL_PUT}, CONDITIONAL_PUT),
        ({"spark.delta.logStore.s3.impl": CONDITIONAL_PUT}, SINGLE_DRIVER),
        ({"delta.logStore.s3a.impl": OTHER}, OTHER),
        ({"spark.delta.logStore.class": OTHER}, OTHER),
        ({"spark.delta.logStore.class": "org.apache.spark.sql.delta.storage.DelegatingLogStore"}, SINGLE_DRIVER),
    ],
)
def test_the_log_store_in_force_is_the_one_that_delta_finds(conf: dict[str, str], expected: str) -> None:
    assert log_store_in_force(classic(conf)) == expected
    assert log_store_in_force(Remote(conf)) == expected  # type: ignore[arg-type]


def test_a_package_without_its_jar_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logstore, "__file__", str(tmp_path / "logstore.py"))

    with pytest.raises(SetupError, match="is missing") as raised:
        logstore_jar()

    assert "make setup" in raised.value.hint
