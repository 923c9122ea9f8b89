"""What a pipeline would do, found out without doing it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltaworks.spark.sinks import WritePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One pipeline's work, decided and printable."""

    pipeline_id: str
    mode: str
    reads: str
    steps: tuple[str, ...]
    write: WritePlan
    inputs: dict[str, str] = field(default_factory=dict)  # what each of them reads, by name
    rows: int | None = None  # how many a look at them counted, where one was needed
    broken: dict[str, int] = field(default_factory=dict)  # rows that do not keep a rule, by its name

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)
