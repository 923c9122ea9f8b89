"""A server that answers nothing and remembers what it was asked."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Listener:
    address: str
    requests: list[str] = field(default_factory=list)  # the line and the headers of each


@contextmanager
def listening() -> Iterator[Listener]:
    """A server on loopback for which everything is not there."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.requests.append(f"{self.requestline}\n{self.headers}")
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_PUT = do_GET  # noqa: N815 - http.server looks for these names

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Listener(f"http://127.0.0.1:{server.server_port}")
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
