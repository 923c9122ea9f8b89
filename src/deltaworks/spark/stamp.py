"""Putting our metadata and mark into the commits Spark makes."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

    from deltaworks.lake.commit import Commit

RESERVED_OPTIONS = frozenset({"txnappid", "txnversion", "usermetadata"})  # in lower case


def write_options(commit: Commit) -> dict[str, str]:
    """The commit, as options of a DataFrame write."""
    options = {"userMetadata": commit.to_json()}
    if commit.mark:
        options |= {"txnAppId": commit.mark.app_id, "txnVersion": str(commit.mark.version)}
    return options


def stamp_conf(commit: Commit) -> dict[str, str]:
    """The commit, as configuration of a session: SQL statements take no options."""
    conf = {"spark.databricks.delta.commitInfo.userMetadata": commit.to_json()}
    if commit.mark:
        conf["spark.databricks.delta.write.txnAppId"] = commit.mark.app_id
        conf["spark.databricks.delta.write.txnVersion"] = str(commit.mark.version)
    return conf


@contextmanager
def configured(session: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    """Configure the session for the one statement inside.

    Only one at a time: the conf is the whole session's, so another load
    through it would carry our mark, hence the lock.
    """
    with session.__dict__.setdefault("_deltaworks_stamp", Lock()):
        before = {key: session.conf.get(key, None) for key in conf}
        try:
            for key, value in conf.items():
                session.conf.set(key, value)
            yield
        finally:
            for key, old in before.items():
                if old is None:
                    session.conf.unset(key)
                else:
                    session.conf.set(key, old)
