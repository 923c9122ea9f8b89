"""What each kind of fault does to a request."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tests.servers.faults.errors import ERRORS, INTERNAL_ERROR
from tests.servers.faults.turn import HangUpError, pass_on, refuse, relay

if TYPE_CHECKING:
    from asyncio import StreamReader
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tests.servers.faults.turn import Turn
    from tests.servers.faults.wire import Head

PIECES = 10


async def slow(turn: Turn) -> None:
    """Wait, then ask."""
    await asyncio.sleep(turn.armed.rule.seconds)
    await pass_on(turn)


async def slow_body(turn: Turn) -> None:
    """Ask, then let the body of the answer trickle."""

    async def trickle(turn: Turn, answer: Head, pieces: AsyncIterator[bytes]) -> None:
        await relay(turn, answer, _spread(await _whole(pieces), turn.armed.rule.seconds))

    await pass_on(turn, answered=trickle)


async def hang(turn: Turn) -> None:
    """Never answer."""
    turn.seen.happened = "hung"
    await _silence(turn)


async def _silence(turn: Turn) -> None:
    ends = [asyncio.create_task(_gone(turn.reader)), asyncio.create_task(turn.armed.cleared.wait())]
    await asyncio.wait(ends, timeout=turn.armed.rule.seconds, return_when=asyncio.FIRST_COMPLETED)
    for end in ends:
        end.cancel()
    raise HangUpError


async def cut(turn: Turn) -> None:
    """Close the connection in the middle of the answer."""

    async def half(turn: Turn, answer: Head, pieces: AsyncIterator[bytes]) -> None:
        body = await _whole(pieces)
        turn.seen.happened = f"cut {answer.status} after {len(body) // 2} of {len(body)} bytes"
        turn.writer.write(answer.raw + body[: len(body) // 2])
        raise HangUpError

    await pass_on(turn, answered=half)


async def cut_request(turn: Turn) -> None:
    """Close both connections in the middle of the request."""

    async def half() -> AsyncIterator[bytes]:
        length = int(turn.request.headers.get("content-length", 0))
        left = length // 2
        async for piece in turn.body():
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                break
        turn.seen.happened = f"cut after {length // 2} of {length} bytes"
        raise HangUpError

    await pass_on(turn, half())
    raise HangUpError


async def lost(turn: Turn) -> None:
    """Close the connection when the server has done what was asked."""

    async def forget(turn: Turn, answer: Head, pieces: AsyncIterator[bytes]) -> None:
        if answer.status >= 300:
            return await relay(turn, answer, pieces)
        await _whole(pieces)  # a long job answers first and says at the end that it is done
        turn.seen.happened = f"lost {answer.status}"
        raise HangUpError

    await pass_on(turn, answered=forget)


async def held(turn: Turn) -> None:
    """Never answer, when the server has done what was asked."""

    async def keep(turn: Turn, answer: Head, pieces: AsyncIterator[bytes]) -> None:
        if answer.status >= 300:
            return await relay(turn, answer, pieces)
        await _whole(pieces)
        turn.seen.happened = f"held {answer.status}"
        return await _silence(turn)

    await pass_on(turn, answered=keep)


async def reset(turn: Turn) -> None:
    """Break the connection when the server has done what was asked."""
    now = struct.pack("ii", 1, 0)  # what was sent last is not waited for: a reset, not an end
    turn.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
    await lost(turn)


async def lost_500(turn: Turn) -> None:
    """Say that it failed when the server has done what was asked."""

    async def deny(turn: Turn, answer: Head, pieces: AsyncIterator[bytes]) -> None:
        if answer.status >= 300:
            return await relay(turn, answer, pieces)
        await _whole(pieces)
        turn.seen.happened = f"lost {answer.status}, answered 500"
        turn.writer.write(INTERNAL_ERROR.answer(turn.request, close=False))
        return await turn.writer.drain()

    await pass_on(turn, answered=deny)


async def ignore_condition(turn: Turn) -> None:
    """Overwrite although the request says not to.

    The header is signed, so it must reach the server. What it would find there is removed instead:
    the server keeps an object as a file.
    """
    path = unquote(turn.request.target.partition("?")[0]).lstrip("/")
    async with turn.armed.turn:  # two who create at once both win
        if "if-none-match" in turn.request.headers:
            (turn.server.data / path).unlink(missing_ok=True)
        await pass_on(turn)


async def _whole(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


async def _spread(body: bytes, seconds: float) -> AsyncIterator[bytes]:
    size = max(1, len(body) // PIECES)
    for start in range(0, len(body), size):
        await asyncio.sleep(seconds * size / len(body))
        yield body[start : start + size]


async def _gone(reader: StreamReader) -> None:
    with suppress(OSError):
        await reader.read()


KINDS: dict[str, Callable[[Turn], Awaitable[None]]] = {
    **{kind: partial(refuse, error=error) for kind, error in ERRORS.items()},
    "pass": pass_on,
    "slow": slow,
    "slow-body": slow_body,
    "hang": hang,
    "cut": cut,
    "cut-request": cut_request,
    "lost": lost,
    "held": held,
    "reset": reset,
    "lost-500": lost_500,
    "ignore-condition": ignore_condition,
}
