"""What a pipeline would do, found out without doing it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from deltaworks.spark.errors import explained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.spark.sinks import WritePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One pipeline's work, decided and printable."""

    pipeline_id: str
    mode: str
    reads: str
    steps: tuple[str, ...]
    write: WritePlan

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def prepare(config: PipelineConfig, span: Any, spark: SparkSession) -> tuple[DataFrame, Plan]:
    """Put the whole pipeline together up to the write; every step is checked, no row is read."""
    with explained("extract"):
        rows = config.extract.read(spark, span)
    for number, step in enumerate(config.transform):
        with explained(f"transform[{number}] {step.type}", rows.columns):
            rows = step.apply(rows)
            _ = rows.schema  # Spark Connect finds mistakes only when asked for the schema
    with explained("load"):
        write = config.load.plan(rows, config.write_mode)
    plan = Plan(
        pipeline_id=config.pipeline_id,
        mode=config.write_mode.value,
        reads=config.extract.describe(span),
        steps=tuple(f"{step.type}: {step.describe()}" for step in config.transform),
        write=write,
    )
    return rows, plan
