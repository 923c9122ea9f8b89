"""The log store that lets several writers commit to one table on S3."""

from __future__ import annotations

LOG_STORE = "io.deltaworks.storage.ConditionalPutLogStore"


def log_store_in_force(spark: object) -> str:
    return ""
