"""The rows after each step of a pipeline, seen without writing any."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from deltaworks.lake.schema import Column, columns
from deltaworks.lake.sql import literal
from deltaworks.spark.errors import explained
from deltaworks.spark.hidden import visible
from deltaworks.spark.look import look

if TYPE_CHECKING:
    from deltaworks.pipeline.plan import Plan
    from deltaworks.pipeline.prepared import Passed, Prepared
    from deltaworks.runs.result import Kept
    from deltaworks.spark.look import Findings

DEFAULT_LIMIT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRows:
    """Some of the rows after one step, as values that JSON has too."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a run would make of its rows, step by step, and then do with them."""

    plan: Plan
    limit: int
    steps: tuple[StepRows, ...]
    expectations: tuple[Kept, ...]  # a broken one that fails a run is only told here
    null_keys: int = 0  # rows with a null in a merge key, where the keys were looked at
    repeated_keys: int = 0  # keys that several rows have

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "pipeline_id": self.plan.pipeline_id,
            "limit": self.limit,
            "steps": [asdict(step) for step in self.steps],
            "expectations": [rule._asdict() for rule in self.expectations],
            "null_keys": self.null_keys,
            "repeated_keys": self.repeated_keys,
            "plan": self.plan.to_dict(),
        }


def preview(ready: Prepared, limit: int = DEFAULT_LIMIT) -> Preview:
    """Show up to so many rows after each step of the whole pipeline; writes nothing."""
    steps = tuple(_seen(step, limit) for step in ready.steps)
    findings = _found(ready)
    plan = ready.told(findings)
    return Preview(
        plan=plan,
        limit=limit,
        steps=steps,
        expectations=plan.kept(ready.config.expect),
        null_keys=findings.null_keys if findings else 0,
        repeated_keys=findings.repeated_keys if findings else 0,
    )


def _found(ready: Prepared) -> Findings | None:
    config = ready.config
    keys = config.load.row_keys(config.write_mode)
    if (keys is None or not keys.checked) and not config.expect:
        return None
    with explained("expect" if config.expect else "load", ready.rows.columns):
        return look(ready.rows, config.expect, keys)


def _seen(step: Passed, limit: int) -> StepRows:
    with explained(step.title):
        rows = visible(step.rows)
        found = columns(rows.schema.json())
        # By place: two columns of a source may have one name.
        numbered = rows.limit(limit).toDF(*(f"c{at}" for at in range(len(found))))
        seen = numbered.selectExpr(*(_portable(f"c{at}", each.type) for at, each in enumerate(found))).collect()
    kinds = [each.type for each in found]
    return StepRows(title=step.title, columns=found, rows=tuple(_plain(row, kinds) for row in seen))


_NESTED = ("array<", "map<", "struct<", "variant")
_SAME = ("boolean", "tinyint", "smallint", "int", "bigint", "double")
_TO_JSON = {
    "ignoreNullFields": "false",
    # Spark's own formats leave microseconds out.
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def _portable(name: str, kind: str) -> str:
    """SQL for a value that comes out of Spark as it is, whatever Python can hold of its kind."""
    if kind in _SAME:
        return name
    if kind.startswith(_NESTED):
        options = ", ".join(literal(word) for pair in _TO_JSON.items() for word in pair)
        return f"to_json({name}, map({options}))"
    if kind == "float":
        return f"CAST(CAST({name} AS STRING) AS DOUBLE)"  # 0.1 and not 0.10000000149011612
    return f"hex({name})" if kind == "binary" else f"CAST({name} AS STRING)"


def _plain(row: tuple[Any, ...], kinds: list[str]) -> tuple[Any, ...]:
    return tuple(_value(value, kind) for value, kind in zip(row, kinds, strict=True))


def _value(value: Any, kind: str) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return json.dumps(value)  # as text: JSON has no number for it
    return json.loads(value) if value is not None and kind.startswith(_NESTED) else value
