"""Letting a session reach storage: credentials go into its configuration, bucket by bucket, never into a URL."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError, SetupError
from deltaworks.spark.gateway import is_remote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

    from deltaworks.vault.storage import Access

_MARK = "deltaworks.access"


def distinct(accesses: Iterable[Access]) -> tuple[Access, ...]:
    """One access for each place; Hadoop keeps one credential for a bucket, so a second one is refused."""
    found: dict[str, Access] = {}
    for access in accesses:
        first = found.setdefault(access.place, access)
        if first.to_hadoop() != access.to_hadoop():
            names = " and ".join(each.credential_id or "no credential" for each in (first, access))
            raise ConfigError(
                f"{access.place} is reached in two ways, with {names}: one process can have one way to a bucket.",
                hint="Give both ends the same credentialId and options, or split the pipeline in two runs.",
            )
    return tuple(access for place, access in found.items() if place)


def grant(spark: SparkSession, accesses: Iterable[Access]) -> None:
    """Let a session reach these places, for as long as it lives."""
    for access in distinct(accesses):
        spark.conf.set(f"{_MARK}.{_bucket(access)}", _fingerprint(access))
        for key, value in access.to_hadoop().items():
            spark.conf.set(key, value)
        if not is_remote(spark):
            _renew(spark, access)


def _renew(spark: SparkSession, access: Access) -> None:
    """Have a kept file system made anew when the secret has changed: Hadoop keeps one for each bucket."""
    kept = _file_system(spark, access)
    known, ours = kept.getConf().get(f"{_MARK}.{_bucket(access)}"), _fingerprint(access)
    if known == ours:
        return
    if access.credential_id is None and known is None:
        return  # the session's owner has found a way there
    if known is None or known.rpartition(" ")[0] != ours.rpartition(" ")[0]:
        raise ConfigError(
            f"This process already reaches {access.place} with another credential than {access.credential_id!r}.",
            hint="Use the same credential for all that it does there, or a process of its own.",
        )
    kept.close()


def _file_system(spark: SparkSession, access: Access) -> Any:
    from py4j.protocol import Py4JJavaError

    session: Any = spark
    conf = session._jsparkSession.sessionState().newHadoopConf()
    try:
        return session._jvm.org.apache.hadoop.fs.Path(f"{access.place}/").getFileSystem(conf)
    except Py4JJavaError as error:
        raise SetupError(
            f"This Spark session cannot reach {access.place}: {error.java_exception.getMessage()}",
            hint="Give the session the jars for this storage, such as hadoop-aws, or let deltaworks open one.",
        ) from error


def _bucket(access: Access) -> str:
    return access.place.partition("://")[2]


def _fingerprint(access: Access) -> str:
    """Tells a changed secret from the same one, and gives neither away."""
    spelled = "\0".join(f"{key}={value}" for key, value in sorted(access.to_hadoop().items()))
    return f"{access.credential_id or '-'} {hashlib.sha256(spelled.encode()).hexdigest()[:16]}"
