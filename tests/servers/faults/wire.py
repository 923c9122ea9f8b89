"""HTTP/1.1 as bytes: a message is passed on exactly as it came, so that its signature stays right."""

from __future__ import annotations

from asyncio import IncompleteReadError
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import AsyncIterator

PIECE = 1 << 16  # bytes
LIMIT = 1 << 20  # bytes of a head


@dataclass(frozen=True, slots=True)
class Head:
    """The lines before the body: as they came, and as they read."""

    raw: bytes
    first: tuple[str, str, str]
    headers: dict[str, str]  # names in lower case

    @property
    def method(self) -> str:
        """What a request asks for."""
        return self.first[0]

    @property
    def target(self) -> str:
        """The path and query of a request."""
        return self.first[1]

    @property
    def status(self) -> int:
        """The number of an answer."""
        return int(self.first[1])

    @property
    def waits(self) -> bool:
        """Whether the body of a request comes only when it is asked for."""
        return self.headers.get("expect", "").lower() == "100-continue"

    @property
    def closes(self) -> bool:
        """Whether the connection ends with this message."""
        return self.headers.get("connection", "").lower() == "close"


async def read_head(reader: StreamReader) -> Head:
    """Read up to the empty line; a connection that ends here ends with IncompleteReadError."""
    raw = await reader.readuntil(b"\r\n\r\n")
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    one, two, three = (*first.split(" ", 2), "")[:3]
    pairs = (line.partition(":") for line in lines)
    return Head(raw, (one, two, three), {name.strip().lower(): value.strip() for name, _, value in pairs})


async def request_body(request: Head, reader: StreamReader) -> AsyncIterator[bytes]:
    """The body of a request, in pieces, as it is on the wire."""
    async for piece in _body(request, reader, length=int(request.headers.get("content-length", 0))):
        yield piece


async def answer_body(request: Head, answer: Head, reader: StreamReader) -> AsyncIterator[bytes]:
    """The body of an answer, in pieces, as it is on the wire."""
    if request.method == "HEAD" or answer.status in (204, 304):
        return
    length = answer.headers.get("content-length")
    async for piece in _body(answer, reader, length=None if length is None else int(length)):
        yield piece


async def send(pieces: AsyncIterator[bytes], to: StreamWriter) -> None:
    """Pass pieces on as they come."""
    async for piece in pieces:
        to.write(piece)
        await to.drain()


async def _body(head: Head, reader: StreamReader, *, length: int | None) -> AsyncIterator[bytes]:
    if "chunked" in head.headers.get("transfer-encoding", ""):
        pieces = _chunks(reader)
    elif length is None:
        pieces = _rest(reader)
    else:
        pieces = _exactly(reader, length)
    async for piece in pieces:
        yield piece


async def _chunks(reader: StreamReader) -> AsyncIterator[bytes]:
    while size := int((line := await reader.readuntil(b"\n")).partition(b";")[0], 16):
        yield line
        async for piece in _exactly(reader, size + len(b"\r\n")):
            yield piece
    yield line
    while line != b"\r\n":  # lines that trail the last chunk
        yield (line := await reader.readuntil(b"\n"))


async def _exactly(reader: StreamReader, length: int) -> AsyncIterator[bytes]:
    while length:
        piece = await reader.read(min(length, PIECE))
        if not piece:
            raise IncompleteReadError(b"", length)
        length -= len(piece)
        yield piece


async def _rest(reader: StreamReader) -> AsyncIterator[bytes]:
    while piece := await reader.read(PIECE):
        yield piece
