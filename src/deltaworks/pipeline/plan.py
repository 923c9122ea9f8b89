"""What a pipeline would do, found out without doing it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from deltaworks.runs.result import Kept
from deltaworks.spark.sinks.delta import DeltaSink

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deltaworks.lake.expectation import Expectation
    from deltaworks.spark.sinks import Sink, WritePlan


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
    after: tuple[str, ...] = ()  # what is done to the target once the rows have landed
    notes: tuple[str, ...] = ()  # what a person should know about how storage is reached
    parts: tuple[Plan, ...] = ()  # of a file that names several tables: one of each, this one included

    def kept(self, rules: Iterable[Expectation]) -> tuple[Kept, ...]:
        """How each rule was kept, where the rows were looked at."""
        return tuple(Kept(rule.name, rule.on_failure.value, self.broken.get(rule.name, 0)) for rule in rules)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def asked_after(sink: Sink) -> tuple[str, ...]:
    """What the file asks for once the rows have landed, in order."""
    if not isinstance(sink, DeltaSink):
        return ()
    after, steps = sink.afterwards, []
    if after.z_order_columns:
        steps.append(f"optimize, rows put together by {', '.join(after.z_order_columns)}")
    elif after.optimize:
        steps.append("optimize")
    if after.vacuum_retention_hours is not None:
        steps.append(f"vacuum, but keep what the last {after.vacuum_retention_hours:,} hours need")
    return tuple(steps)
