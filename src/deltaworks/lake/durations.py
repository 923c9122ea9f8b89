"""How long something takes, as people write it."""

from __future__ import annotations

import re
from datetime import timedelta

from deltaworks.errors import ConfigError

_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_WRITTEN = re.compile(r"(\d{1,9})\s*(ms|s|m|h|d)")


def duration(text: str) -> timedelta:
    """Understand `10s`, `500ms`, `5m`, `2h` or `1d`."""
    found = _WRITTEN.fullmatch(text.strip().lower())
    if found is None:
        raise ConfigError(f"{text!r} is no duration.", hint="Write a number and a unit: 500ms, 10s, 5m, 2h or 1d.")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
