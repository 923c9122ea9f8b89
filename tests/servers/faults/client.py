"""How a test asks for faults."""

from __future__ import annotations

import json
import socket
import sys
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from tests.servers.faults.rules import Rule, Seen
from tests.servers.keeper import free_port, require

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.faults.rules import Kind
    from tests.servers.keeper import Run
    from tests.servers.s3 import S3Server


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults of one bucket, forgotten when the test ends.

    They meet only those who use `s3`, which is the S3 server as seen through the proxy.
    """

    s3: S3Server
    control: int
    bucket: str

    def add(
        self,
        kind: Kind,
        *,
        method: str = ".*",
        path: str = "",
        header: str = "",
        after: int = 0,
        times: int | None = 1,
        seconds: float = 1.0,
    ) -> None:
        """Ask for a fault; `Rule` says what the words mean."""
        rule = Rule(
            kind=kind,
            bucket=self.bucket,
            method=method,
            path=path,
            header=header,
            after=after,
            times=times,
            seconds=seconds,
        )
        self._order(add=asdict(rule))

    def clear(self) -> None:
        """Forget all faults of the bucket, and what they met."""
        self._order(clear=self.bucket)

    def seen(self) -> list[Seen]:
        """What the faults met, in the order it came."""
        return [Seen(**seen) for seen in self._order(seen=self.bucket)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def _order(self, **order: object) -> list[dict[str, Any]]:
        with socket.create_connection(("127.0.0.1", self.control)) as connection, connection.makefile("rw") as lines:
            lines.write(json.dumps(order) + "\n")
            lines.flush()
            return list(json.loads(lines.readline()))


def faults_of(bucket: str, run: Run, s3: S3Server) -> Faults:
    """The faults of a bucket, through the one proxy of this run of the tests."""
    facts = run.once("faults", lambda folder: _start(run, folder, s3))
    require(facts["port"], run.folder / "faults/log")
    return Faults(replace(s3, endpoint=f"http://127.0.0.1:{facts['port']}"), facts["control"], bucket)


def _start(run: Run, folder: Path, s3: S3Server) -> dict[str, int]:
    port, control = free_port(), free_port()
    words = [str(port), str(control), str(s3.port), str(s3.folder / "data")]
    run.keep([sys.executable, "-m", "tests.servers.faults", *words], folder / "log", port)
    return {"port": port, "control": control}
