"""One request on its way from a client to the server, and the answer on its way back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.servers.faults.wire import LIMIT, answer_body, read_head, request_body, send

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tests.servers.faults.errors import S3Error
    from tests.servers.faults.rules import Armed, Seen
    from tests.servers.faults.wire import Head

GRACE = 5  # seconds for the rest of a body that the server did not wait for


class HangUpError(Exception):
    """The connection to the client is closed now."""


@dataclass(frozen=True, slots=True)
class Server:
    """The server behind the proxy, and the folder it keeps its objects in."""

    port: int
    data: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A request, who sent it, where it would go, and what is to happen to it."""

    request: Head
    reader: StreamReader
    writer: StreamWriter
    server: Server
    armed: Armed
    seen: Seen

    def body(self) -> AsyncIterator[bytes]:
        """The rest of the request."""
        return request_body(self.request, self.reader)


async def relay(turn: Turn, answer: Head, pieces: AsyncIterator[bytes]) -> None:
    """Let the client have the server's answer."""
    turn.seen.happened = f"passed {answer.status}"
    turn.writer.write(answer.raw)
    await send(pieces, turn.writer)
    await turn.writer.drain()


async def pass_on(
    turn: Turn,
    pieces: AsyncIterator[bytes] | None = None,
    answered: Callable[[Turn, Head, AsyncIterator[bytes]], Awaitable[None]] = relay,
) -> None:
    """Ask the server, and do with its answer what `answered` says."""
    reader, writer = await asyncio.open_connection("127.0.0.1", turn.server.port, limit=LIMIT)
    writer.write(turn.request.raw)
    sending = asyncio.create_task(_upload(pieces or turn.body(), writer))
    try:
        while (answer := await read_head(reader)).status == 100:
            turn.writer.write(answer.raw)
        await answered(turn, answer, answer_body(turn.request, answer, reader))
        await _settle(turn, sending, answer)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.close()


async def refuse(turn: Turn, error: S3Error) -> None:
    """Answer in the server's place."""
    turn.seen.happened = f"answered {error.status}"
    if not turn.request.waits:
        async for _ in turn.body():
            pass
    turn.writer.write(error.answer(turn.request, close=turn.request.waits))
    await turn.writer.drain()
    if turn.request.waits:
        raise HangUpError


async def _upload(pieces: AsyncIterator[bytes], writer: StreamWriter) -> None:
    try:
        await send(pieces, writer)
    except (OSError, EOFError, HangUpError):
        writer.close()  # half a request must not wait for its other half
        raise


async def _settle(turn: Turn, sending: asyncio.Task[None], answer: Head) -> None:
    """Leave the connection where the next request begins, or close it."""
    if not sending.done() and not turn.request.waits:
        await asyncio.wait([sending], timeout=GRACE)
    if not sending.done() or sending.exception() or answer.closes or turn.request.closes:
        raise HangUpError
