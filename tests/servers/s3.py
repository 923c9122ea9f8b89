"""An S3 server on loopback: S3Proxy over a folder, with credentials that it checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from deltaworks.spark.java import find_java
from tests.canaries import new_canary
from tests.jars import S3PROXY, kept
from tests.servers.keeper import free_port, require

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.keeper import Run

READ_ONLY = "s3proxy.read-only-blobstore=true"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks. The secret is found nowhere but here, so that a search for it can tell whether it leaked."""

    key: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class S3Server:
    """Where the server is, and who may use it: two who may do everything, and one who may only read."""

    endpoint: str
    folder: Path
    owner: Identity
    second: Identity
    reader: Identity

    @property
    def port(self) -> int:
        """The port of its address."""
        return urlsplit(self.endpoint).port or 0

    def bucket(self, name: str) -> str:
        """Make a bucket.

        S3Proxy keeps a bucket as a folder, which needs no request and no library to sign it. The
        mode matters: what others may read on the disk, S3Proxy shows without credentials.
        """
        require(self.port, self.folder / "log")
        (self.folder / "data" / name).mkdir(mode=0o700)
        return name

    def options(self, identity: Identity | None = None) -> dict[str, str]:
        """The storage options of delta-rs and obstore for this server; the owner's unless another is named."""
        asking = identity or self.owner
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": asking.key,
            "AWS_SECRET_ACCESS_KEY": asking.secret,
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
            "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false",
        }


def s3_server(run: Run) -> S3Server:
    """The S3 server of this run of the tests."""
    facts = run.once("s3", lambda folder: _start(run, folder))
    identities = {name: Identity(name, secret) for name, secret in facts["secrets"].items()}
    return S3Server(facts["endpoint"], run.folder / "s3", **identities)


def _start(run: Run, folder: Path) -> dict[str, object]:
    (folder / "data").mkdir()
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    canaries = {name: new_canary(run.folder) for name in ("owner", "second", "reader")}
    files = [_properties(folder, endpoint, name, secret) for name, secret in canaries.items()]
    java = [str(find_java().path), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    words = [word for file in files for word in ("--properties", str(file))]
    run.keep([*java, "-jar", str(*kept((S3PROXY,))), *words], folder / "log", port)
    return {"endpoint": endpoint, "secrets": canaries}


def _properties(folder: Path, endpoint: str, identity: str, secret: str) -> Path:
    path = folder / f"{identity}.properties"
    lines = [
        f"s3proxy.endpoint={endpoint}",
        "s3proxy.authorization=aws-v2-or-v4",
        f"s3proxy.identity={identity}",
        f"s3proxy.credential={secret}",
        "jclouds.provider=filesystem-nio2",
        f"jclouds.filesystem.basedir={folder / 'data'}",
        READ_ONLY if identity == "reader" else "",
    ]
    path.touch(mode=0o600)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path
