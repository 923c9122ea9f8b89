"""A small HTTP server on this machine that answers as a test says, in a thread of its own."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered: a status and JSON, or any text."""

    status: int
    content: Any = None
    kind: str = "application/json"

    def to_bytes(self) -> bytes:
        """The body as it is sent."""
        return self.content.encode() if isinstance(self.content, str) else json.dumps(self.content).encode()


@dataclass(slots=True)
class Loopback:
    """Where the server is, and what it was asked."""

    address: str
    requests: list[Request] = field(default_factory=list)


@contextmanager
def loopback(answer: Callable[[Request], Answer]) -> Iterator[Loopback]:
    """Answer requests for as long as the test runs."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(self.command, self.path, dict(self.headers), body)
            found.requests.append(request)
            said = answer(request)
            self.send_response(said.status)
            self.send_header("Content-Type", said.kind)
            self.send_header("Content-Length", str(len(said.to_bytes())))
            self.end_headers()
            self.wfile.write(said.to_bytes())

        do_GET = do_POST = _answer  # noqa: N815 - the names that the server looks for

        def log_message(self, format: str, *words: object) -> None:  # noqa: A002
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Loopback(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
