"""Do rows fit a table? Decided from names and types, before anything is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deltaworks.lake.schema import Column


class Difference(NamedTuple):
    """A column whose type in the rows is not the table's."""

    name: str
    incoming: str
    there: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How the columns of rows compare with those of a table."""

    new: tuple[str, ...] = ()  # the table does not have them
    missing: tuple[str, ...] = ()  # the rows do not have them, and the table cannot make them up
    narrower: tuple[Difference, ...] = ()  # every value fits the table's type
    wider: tuple[Difference, ...] = ()  # would fit if the table's type were widened
    wrong: tuple[Difference, ...] = ()  # neither


def compared(incoming: Iterable[Column], there: Iterable[Column]) -> Fit:
    """Compare columns by name, as Spark does without regard to case."""
    theirs = {column.name.lower(): column for column in there}
    ours = {column.name.lower(): column for column in incoming}
    differences = [
        Difference(theirs[name].name, column.type, theirs[name].type)
        for name, column in ours.items()
        if name in theirs and column.type != theirs[name].type
    ]
    narrower = tuple(each for each in differences if holds_all(each.there, each.incoming))
    wider = tuple(each for each in differences if each not in narrower and _widens(each.there, each.incoming))
    return Fit(
        new=tuple(column.name for name, column in ours.items() if name not in theirs),
        missing=tuple(column.name for name, column in theirs.items() if name not in ours and not column.made),
        narrower=narrower,
        wider=wider,
        wrong=tuple(each for each in differences if each not in (*narrower, *wider)),
    )


def holds_all(wide: str, narrow: str) -> bool:
    """Whether every value of one type is exactly a value of another."""
    if wide in _WHOLE and narrow in _WHOLE:
        return _WHOLE.index(wide) >= _WHOLE.index(narrow)
    if wide == "double":
        return narrow in {"float", "tinyint", "smallint", "int"}
    digits, needed = _digits(wide), _digits(narrow) or _WHOLE_DIGITS.get(narrow)
    return bool(digits and needed and digits.before >= needed.before and digits.after >= needed.after)


def _widens(there: str, incoming: str) -> bool:
    """Whether Delta widens a column by itself: only to a larger type of the same family."""
    families = (_WHOLE, ("float", "double"))
    related = any(there in family and incoming in family for family in families)
    return holds_all(incoming, there) and (related or bool(_digits(there) and _digits(incoming)))


class _Digits(NamedTuple):
    before: int
    after: int


def _digits(kind: str) -> _Digits | None:
    found = re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", kind)
    return _Digits(int(found[1]) - int(found[2]), int(found[2])) if found else None


_WHOLE = ("tinyint", "smallint", "int", "bigint")
_WHOLE_DIGITS = dict(zip(_WHOLE, (_Digits(3, 0), _Digits(5, 0), _Digits(10, 0), _Digits(20, 0)), strict=True))
