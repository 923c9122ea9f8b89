"""From a time to a version."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from deltaworks.lake.log import Log


def instant(timestamp: datetime | str) -> datetime:
    """A point in time; without a zone it is UTC."""
    if isinstance(timestamp, str):
        timestamp = _parsed(timestamp)
    return timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)


def version_at(log: Log, moment: datetime) -> int:
    """The version a table had at a time."""
    before = [version for version, at in log.times().items() if at <= moment]
    if not before:
        raise NoVersionThenError(log, moment)
    return before[-1]


def first_version_since(log: Log, moment: datetime) -> int:
    """The first version made at a time or after it; none may have been before it that the log no longer has."""
    times = log.times()
    found = next((version for version, at in times.items() if at >= moment), None)
    if found is None:
        raise NoVersionThenError(log, moment)
    if found == min(times) > 0 and times[found] > moment:
        raise CleanedUpError(log.uri, moment, found, times[found])
    return found


class NoVersionThenError(ConfigError):
    """A time was named for which the table has no version."""

    def __init__(self, log: Log, moment: datetime) -> None:
        times = log.times()
        first, last = (f"{at:%Y-%m-%d %H:%M:%S.%f}Z" for at in (min(times.values()), max(times.values())))
        super().__init__(
            f"{log.uri} has no version for {moment.isoformat(sep=' ')}.",
            hint=f"Its versions {min(times)} to {max(times)} were made from {first} to {last}.",
        )


class CleanedUpError(ConfigError):
    """A start was named as a time of which the log may once have had versions, and has none any more."""

    def __init__(self, uri: str, moment: datetime, first: int, made: datetime) -> None:
        super().__init__(
            f"{uri} cannot be read from {moment.isoformat(sep=' ')} on: log clean-up removed what came before version "
            f"{first}, made at {made:%Y-%m-%d %H:%M:%S.%f}Z.",
            hint=f"Name that version, startingVersion: {first}, or a later time. An incremental pipeline may leave the "
            "start out, for all rows there are now.",
        )


def _parsed(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ConfigError(
            f"{text!r} is not a time.", hint="Write it as 2024-01-31, 2024-01-31 12:00:00 or with a zone."
        ) from error
