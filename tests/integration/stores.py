"""Objects on the S3 server, without Delta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from obstore.store import S3Store

if TYPE_CHECKING:
    from tests.servers.s3 import Identity, S3Server


def store(s3: S3Server, bucket: str, identity: Identity | None = None) -> S3Store:
    """A bucket, for one who never asks twice."""
    return S3Store(bucket, config=s3.options(identity), retry_config={"max_retries": 0})  # type: ignore[arg-type]


def aws_client(s3: S3Server) -> Any:
    """The AWS library of Python as the owner; it never asks twice either, and says `Expect: 100-continue`."""
    from botocore.config import Config
    from botocore.session import get_session

    return get_session().create_client(
        "s3",
        endpoint_url=s3.endpoint,
        region_name="us-east-1",
        aws_access_key_id=s3.owner.key,
        aws_secret_access_key=s3.owner.secret,
        config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
    )
