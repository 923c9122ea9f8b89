"""The proxy as a program: one port for clients of S3, one for the tests that tell it what to do."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.servers.faults.errors import ACCESS_DENIED
from tests.servers.faults.kinds import KINDS
from tests.servers.faults.rules import Armed, Rule, Rules, Seen
from tests.servers.faults.turn import HangUpError, Server, Turn, refuse
from tests.servers.faults.wire import LIMIT, read_head

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

    from tests.servers.faults.wire import Head

NO_RULE = Rule(kind="pass", bucket="any")
WRITES = ("PUT", "POST", "DELETE")


async def converse(rules: Rules, server: Server, reader: StreamReader, writer: StreamWriter) -> None:
    """Serve one connection until either side ends it."""
    try:
        with suppress(HangUpError, OSError, EOFError):
            while request := await read_head(reader):
                armed, seen = rules.take(request) or (Armed(NO_RULE), Seen("", "", ""))
                turn = Turn(request=request, reader=reader, writer=writer, server=server, armed=armed, seen=seen)
                await (refuse(turn, ACCESS_DENIED) if oversteps(request) else KINDS[armed.rule.kind](turn))
    finally:
        writer.close()


def oversteps(request: Head) -> bool:
    """Whether the reader wants to write. S3Proxy says 501 to that, which clients try again; S3 says 403."""
    return request.method in WRITES and "Credential=reader/" in request.headers.get("authorization", "")


async def listen(rules: Rules, reader: StreamReader, writer: StreamWriter) -> None:
    """Do what a test asks, and answer."""
    answer = obey(rules, json.loads(await reader.readline()))
    writer.write(json.dumps(answer).encode() + b"\n")
    await writer.drain()
    writer.close()


def obey(rules: Rules, order: dict[str, Any]) -> list[dict[str, Any]]:
    """Carry out one order."""
    match order:
        case {"add": rule}:
            rules.add(Rule(**rule))
        case {"clear": bucket}:
            rules.clear(bucket)
        case {"seen": bucket}:
            return [asdict(seen) for seen in rules.seen(bucket)]
    return []


async def main(port: str, control: str, server: str, data: str) -> None:
    """Serve until killed."""
    rules = Rules()
    behind = Server(int(server), Path(data))
    tests = await asyncio.start_server(partial(listen, rules), "127.0.0.1", int(control))
    clients = await asyncio.start_server(partial(converse, rules, behind), "127.0.0.1", int(port), limit=LIMIT)
    await asyncio.gather(tests.serve_forever(), clients.serve_forever())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
