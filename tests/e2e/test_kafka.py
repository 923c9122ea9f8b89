"""An example of the specification from the command line: the file as it stands, `--set`, and the environment."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import deltaworks as library
from tests.e2e.commands import deltaworks

if TYPE_CHECKING:
    from tests.servers.s3 import S3Server
    from tests.servers.topic import TestTopic

UPSERT = Path(__file__).parents[2] / "examples/spec/2-upsert-with-merge.json"


def test_the_upsert_of_the_specification_runs_with_another_broker_and_credentials_of_the_environment(
    tmp_path: Path, s3: S3Server, bucket: str, topic: TestTopic
) -> None:
    topic.send(
        {"user_id": 1, "name": "old", "updated_at": "2024-01-01T00:00:00Z"},
        {"user_id": 1, "name": "new", "updated_at": "2024-02-01T00:00:00Z"},
        {"user_id": 2, "name": "only", "updated_at": "2024-01-01T00:00:00Z"},
    )
    uri = f"s3a://{bucket}/users"
    changes = {
        "extract.connectionParams.topic": topic.name,
        'extract.connectionParams."kafka.bootstrap.servers"': topic.server.plain,
        "load.connectionParams.path": uri,
    }
    login = {"ACCESS_KEY_ID": s3.owner.key, "SECRET_ACCESS_KEY": s3.owner.secret, "ENDPOINT": s3.endpoint}
    words = [word for path, value in changes.items() for word in ("--set", f"{path}={value}")]
    quick = ["--conf", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1"]

    done = deltaworks(
        "run",
        Path(shutil.copy(UPSERT, tmp_path)).name,
        *words,
        *quick,
        cwd=tmp_path,
        **{f"DELTAWORKS_S3_CREDS__{name}": value for name, value in login.items()},
    )

    assert done.returncode == 0, done.stderr
    rows = library.open_table(uri, storage_options=s3.options()).to_arrow().to_pylist()
    assert sorted((row["user_id"], row["name"], row["updated_at"]) for row in rows) == [
        (1, "new", "2024-02-01T00:00:00Z"),
        (2, "only", "2024-01-01T00:00:00Z"),
    ]
    assert s3.owner.secret not in done.stdout + done.stderr
