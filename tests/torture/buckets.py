"""Cases whose tables are in a bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks import MemoryVault
from tests.integration.s3.lake import credential

if TYPE_CHECKING:
    from tests.servers.s3 import S3Server
    from tests.torture.case import Case

COMMIT = r"_delta_log/\d{20}\.json"
RETRIES = {"fs.s3a.retry.interval": "20ms", "fs.s3a.retry.throttle.interval": "20ms"}


def into_bucket(case: Case, s3: S3Server, bucket: str) -> Case:
    """Let a pipeline write there."""
    lake = credential(s3)
    others = {"db": case.stream.database.credential} if hasattr(case.stream, "database") else {}
    case.target, case.options = f"s3a://{bucket}/out", s3.options()
    case.place = s3.folder / "data" / bucket / "out"
    case.sink = {"credentialId": "lake", "options": RETRIES}
    case.vault = MemoryVault({"lake": lake, **others})
    case.variables = {f"DELTAWORKS_LAKE__{name.upper()}": value for name, value in lake.items()}
    return case
