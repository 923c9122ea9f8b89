"""What rows must be like, and what happens to those that are not."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from deltaworks.lake.model import FileModel

if TYPE_CHECKING:
    from collections.abc import Iterable


class OnFailure(StrEnum):
    """What happens when a row does not keep a rule."""

    FAIL = "fail"
    DROP = "drop"
    SET_ASIDE = "setAside"


class Expectation(FileModel):
    """A rule every row must keep. A rule that is null for a row is not kept."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,128}$")]
    """The rule's name, as results and set-aside rows have it."""
    check: Annotated[str, Field(min_length=1)]
    """A SQL condition over the columns after the last transform."""
    on_failure: OnFailure = OnFailure.FAIL
    """`fail`: nothing is written; `drop`: the row is left out; `setAside`: it goes to a table beside the target."""

    @property
    def kept(self) -> str:
        """SQL that is true for a row that keeps the rule and false for any other, never null."""
        return f"coalesce({self.check}, false)"

    def sparing(self, rows: str) -> Expectation:
        """The same rule, which all rows keep that a condition selects."""
        return self.model_copy(update={"check": f"({rows}) OR {self.kept}"})


def all_kept(rules: Iterable[Expectation]) -> str:
    """SQL that is true for a row that keeps all rules."""
    return " AND ".join(rule.kept for rule in rules) or "true"


def to_set_aside(rules: Iterable[Expectation]) -> str:
    """SQL that is true for a row that has to be kept beside the target."""
    return " OR ".join(f"NOT {rule.kept}" for rule in rules if rule.on_failure is OnFailure.SET_ASIDE) or "false"
