"""Objects on the S3 server, without Delta."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obstore.store import S3Store

if TYPE_CHECKING:
    from tests.servers.s3 import Identity, S3Server


def store(s3: S3Server, bucket: str, identity: Identity | None = None) -> S3Store:
    """A bucket, for one who never asks twice."""
    return S3Store(bucket, config=s3.options(identity), retry_config={"max_retries": 0})  # type: ignore[arg-type]
