"""`deltaworks` on a bucket, with its credential in a sealed vault: no secret is an argument, printed or written."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import deltaworks as dw
from tests.canaries import Search
from tests.e2e.commands import COMMAND, csv_pipeline, deltaworks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.s3 import Identity, S3Server


def seal(folder: Path, s3: S3Server, identity: Identity) -> str:
    """Put the credential of an identity into the vault."""
    values = {"access_key_id": identity.key, "secret_access_key": identity.secret, "endpoint": s3.endpoint}
    command = [*COMMAND, "vault", "set", "lake", *values, "--stdin"]
    done = subprocess.run(command, cwd=folder, input=json.dumps(values), capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def test_a_table_in_a_bucket_is_written_with_a_sealed_credential(tmp_path: Path, s3: S3Server, bucket: str) -> None:
    uri = f"s3://{bucket}/orders"
    csv_pipeline(tmp_path, load={"sinkType": "DeltaLake", "path": uri, "credentialId": "lake"})
    vault, runs = (
        "{type: file, path: keys/vault.sealed, key: file}",
        f"{{path: s3://{bucket}/runs, credentialId: lake}}",
    )
    (tmp_path / "deltaworks.yaml").write_text(f"vault: {vault}\nruns: {runs}\n")
    events = tmp_path / "events"
    events.mkdir()
    conf = [f"spark.eventLog.dir={events}", "spark.eventLog.enabled=true", "spark.eventLog.compress=false"]
    words = ["run", "orders.json", "-v", *(word for setting in conf for word in ("--conf", setting))]

    printed = [deltaworks("vault", "init", cwd=tmp_path).stderr, seal(tmp_path, s3, s3.owner)]
    run = deltaworks(*words, cwd=tmp_path)
    printed.append(seal(tmp_path, s3, s3.second))  # rotated: what comes next uses it
    listed = deltaworks("runs", "list", cwd=tmp_path)

    assert run.returncode == 0, run.stderr
    assert dw.open_table(uri, storage_options=s3.options()).rows == 10
    assert "succeeded" in listed.stdout
    printed += [done.stdout + done.stderr for done in (run, listed)]
    search = Search([s3.owner.secret, s3.second.secret])
    assert not search.text("\n".join(printed).encode())
    assert any(events.rglob("events_*"))
    assert list(search.files(tmp_path)) == list(search.files(s3.folder / "data" / bucket)) == []


def test_a_bucket_that_is_not_there_is_two_lines(tmp_path: Path, s3: S3Server) -> None:
    (tmp_path / "deltaworks.yaml").write_text("vault: {type: environment}\n")
    csv_pipeline(tmp_path, extract={"sourceType": "DeltaLake", "path": "s3://no-such-bucket/t", "credentialId": "lake"})
    keys = {"ACCESS_KEY_ID": s3.owner.key, "SECRET_ACCESS_KEY": s3.owner.secret, "ENDPOINT": s3.endpoint}

    done = deltaworks(
        "run", "orders.json", cwd=tmp_path, **{f"DELTAWORKS_LAKE__{name}": value for name, value in keys.items()}
    )

    assert done.returncode == 3
    assert "Error: extract: s3a://no-such-bucket/t cannot be reached: NoSuchBucket" in done.stderr
    assert "Hint: Make the bucket, or check its name." in done.stderr
