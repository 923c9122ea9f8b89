"""The faults asked for: which requests they meet, and what became of those."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from tests.servers.faults.wire import Head

Kind = Literal[
    "pass",  # nothing, but it is seen
    "500",  # InternalError, the server is not asked
    "503",  # SlowDown
    "expired",  # 403 ExpiredToken, as many endpoints answer
    "expired-400",  # ExpiredToken as S3 itself answers
    "denied",  # 403 AccessDenied
    "conflict",  # 409 ConditionalRequestConflict
    "slow",  # nothing happens for some seconds, then all goes well
    "slow-body",  # the answer's body takes some seconds
    "hang",  # no answer until these seconds have passed or the rule is cleared, then the connection is closed
    "cut",  # the connection is closed in the middle of the answer's body
    "cut-request",  # the connection is closed in the middle of the request's body, on both sides
    "lost",  # the server did it, and the connection is closed without an answer
    "held",  # the same, but only after some seconds, or when the rule is cleared
    "reset",  # the same as lost, and the connection is broken instead of closed
    "lost-500",  # the server did it, and the answer is InternalError
    "ignore-condition",  # If-None-Match is not honoured
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One fault, for requests to one bucket.

    `method` and `path` are regular expressions: the whole method, any part of the path and query as they
    are on the wire. `header` is the name of a header that must be there, or `name: expression of its value`.
    The first `after` requests that match pass; then the fault happens to `times` of them, or to all.
    """

    kind: Kind
    bucket: str
    method: str = ".*"
    path: str = ""
    header: str = ""
    after: int = 0
    times: int | None = 1
    seconds: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"No fault is named {self.kind!r}; there are: {', '.join(get_args(Kind))}.")
        if not self.bucket:
            raise ValueError("A rule without a bucket would reach other tests.")
        for expression in (self.method, self.path, self.header):
            re.compile(expression)

    def matches(self, request: Head) -> bool:
        """Whether a request is one of those."""
        return (
            re.match(f"/{re.escape(self.bucket)}([/?]|$)", request.target) is not None
            and re.fullmatch(self.method, request.method) is not None
            and re.search(self.path, request.target) is not None
            and self._finds_header(request)
        )

    def _finds_header(self, request: Head) -> bool:
        name, _, value = self.header.partition(": ")
        found = request.headers.get(name.lower())
        return not name or (found is not None and re.search(value, found) is not None)


@dataclass(slots=True)
class Seen:
    """A request that matched a rule, and what happened to it."""

    kind: str
    method: str
    path: str
    happened: str = "nothing yet"


@dataclass(slots=True)
class Armed:
    """A rule at work."""

    rule: Rule
    matched: int = 0
    cleared: asyncio.Event = field(default_factory=asyncio.Event)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def takes(self, request: Head) -> bool:
        """Count a request that matches; say whether the fault happens to it."""
        if not self.rule.matches(request):
            return False
        self.matched += 1
        late = self.matched - self.rule.after
        return late > 0 and (self.rule.times is None or late <= self.rule.times)


class Rules:
    """All rules of all tests, in the order they were added."""

    def __init__(self) -> None:
        self._armed: list[Armed] = []
        self._seen: dict[str, list[Seen]] = {}

    def add(self, rule: Rule) -> None:
        """Add a rule; it is asked after those that are there."""
        self._armed.append(Armed(rule))

    def clear(self, bucket: str) -> None:
        """Forget the rules of a bucket and what they saw; let go of whoever hangs."""
        for armed in [armed for armed in self._armed if armed.rule.bucket == bucket]:
            armed.cleared.set()
            self._armed.remove(armed)
        self._seen.pop(bucket, None)

    def seen(self, bucket: str) -> list[Seen]:
        """The requests that a rule of this bucket took, in the order they came."""
        return self._seen.get(bucket, [])

    def take(self, request: Head) -> tuple[Armed, Seen] | None:
        """Find the rule that a request falls under, and note it."""
        for armed in self._armed:
            if armed.takes(request):
                seen = Seen(armed.rule.kind, request.method, request.target)
                self._seen.setdefault(armed.rule.bucket, []).append(seen)
                return armed, seen
        return None
