"""Several pipelines, put in the order in which one needs the other."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.lake.storage import local_path, one_spelling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaworks.pipeline.config import PipelineConfig


def ordered(configs: Sequence[PipelineConfig]) -> list[int]:
    """The places of the pipelines, so that one that reads what another writes comes after it."""
    needs = {
        at: {other for other in range(len(configs)) if reads(configs[at], configs[other])} for at in range(len(configs))
    }
    sorter = TopologicalSorter({at: found - {at} for at, found in needs.items()})
    try:
        sorter.prepare()
    except CycleError as error:
        circle = " → ".join(configs[at].pipeline_id for at in error.args[1])
        raise ConfigError(
            f"These pipelines read what the others write, in a circle: {circle}.", hint="Run them one at a time."
        ) from error
    return _in_rounds(sorter)


def _in_rounds(sorter: TopologicalSorter[int]) -> list[int]:
    order: list[int] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())  # where nothing decides, the order given stays
        order += ready
        sorter.done(*ready)
    return order


def reads(reader: PipelineConfig, writer: PipelineConfig) -> bool:
    """Whether one pipeline reads what another writes."""
    target = _normal(writer.load.place)
    sources = [_normal(source.place) for source in (reader.extract, *reader.inputs.values())]
    return any(source == target or source.startswith(target + "/") for source in sources)


def _normal(place: str) -> str:
    path = local_path(place)
    return str(path.resolve()) if path else one_spelling(place.rstrip("/"))
