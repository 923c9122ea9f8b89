"""What S3 answers when it refuses a request."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from tests.servers.faults.wire import Head

BODY = """\
<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>{code}</Code><Message>{message}</Message>{more}<Resource>{resource}</Resource>\
<RequestId>{id}</RequestId><HostId>{id}</HostId></Error>"""


@dataclass(frozen=True, slots=True)
class S3Error:
    """One error as S3 documents it."""

    status: int
    code: str
    message: str
    more: str = ""

    def answer(self, request: Head, *, close: bool) -> bytes:
        """Spell the whole answer to a request."""
        number, resource = uuid.uuid4().hex[:16].upper(), escape(request.target.partition("?")[0])
        body = BODY.format(code=self.code, message=self.message, more=self.more, resource=resource, id=number).encode()
        lines = (
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            f"x-amz-request-id: {number}",
            f"x-amz-id-2: {number}",
            "Content-Type: application/xml",
            f"Content-Length: {len(body)}",
            f"Connection: {'close' if close else 'keep-alive'}",
        )
        head = "\r\n".join(lines).encode() + b"\r\n\r\n"
        return head if request.method == "HEAD" else head + body


INTERNAL_ERROR = S3Error(500, "InternalError", "We encountered an internal error. Please try again.")
ACCESS_DENIED = S3Error(403, "AccessDenied", "Access Denied")
ERRORS = {
    "500": INTERNAL_ERROR,
    "503": S3Error(503, "SlowDown", "Please reduce your request rate."),
    "expired": S3Error(403, "ExpiredToken", "The provided token has expired."),
    "expired-400": S3Error(400, "ExpiredToken", "The provided token has expired."),
    "denied": ACCESS_DENIED,
    "conflict": S3Error(
        409,
        "ConditionalRequestConflict",
        "The conditional request cannot succeed due to a conflicting operation against this resource.",
        more="<Condition>If-None-Match</Condition>",
    ),
}
