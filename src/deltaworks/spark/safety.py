"""Several writers on S3: are they safe here? Asked before the first write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.errors import RefusedError
from deltaworks.spark.logstore import CONDITIONAL_PUT, log_store_in_force
from deltaworks.spark.sinks.delta import DeltaSink
from deltaworks.vault.storage.s3 import S3Access

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from deltaworks.lake.proofs import Proofs
    from deltaworks.spark.sinks import Sink

INSIST = "write singleDriver: true in `load` if nobody else ever writes this table."


class UnsafeWritersError(RefusedError):
    """Two writers of this table could overwrite each other's commits."""


def require_safe(sink: Sink, spark: SparkSession, proofs: Proofs) -> None:
    """Refuse to write a table on S3 where a second writer could undo what we commit."""
    access = _shared(sink)
    if access is None:
        return
    found = log_store_in_force(spark)
    if found != CONDITIONAL_PUT:
        raise UnsafeWritersError(
            f"This Spark session commits to {access.place} with {found}, which is safe for one driver only.",
            hint=f"Start the session with deltaworks' log store, or {INSIST}",
        )
    require_creates_once(sink, proofs)


def require_creates_once(sink: Sink, proofs: Proofs) -> None:
    """Refuse to commit to a table on S3 whose storage would let two writers make the same version."""
    access = _shared(sink)
    if access is not None and not proofs.creates_once(sink.place, access):
        raise UnsafeWritersError(
            f"The storage of {sink.place} does not honour conditional put: two writers could lose each other's rows.",
            hint=f"Use storage that does, or {INSIST}",
        )


def _shared(sink: Sink) -> S3Access | None:
    """The way to a table on S3 that others may write too."""
    if not isinstance(sink, DeltaSink) or sink.single_driver or not isinstance(sink.access, S3Access):
        return None
    return sink.access
