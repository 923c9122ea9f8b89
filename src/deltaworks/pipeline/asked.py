"""What the caller asks of a run, beside what the file says."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from deltaworks.errors import ConfigError
from deltaworks.pipeline.following import Pace
from deltaworks.pipeline.incremental import continuing
from deltaworks.pipeline.keys import shortened
from deltaworks.spark.errors import explained

if TYPE_CHECKING:
    from deltaworks.pipeline.config import PipelineConfig


class Range(NamedTuple):
    """From where to where, as the source understands it."""

    start: str
    end: str

    @property
    def key(self) -> str:
        """The key of its load, so that a range lands once, however its JSON is spelled."""
        return shortened(f"{_spelled(self.start)}..{_spelled(self.end)}")


def _spelled(text: str) -> str:
    """An object of JSON in its normal spelling; other text as it is."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return json.dumps(said, sort_keys=True, separators=(",", ":")) if isinstance(said, dict) else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a pipeline is to be run this time."""

    key: str | None = None  # the load lands once under it
    again: bool = False  # once more, although the key has landed
    pace: Pace = field(default_factory=Pace)  # of an incremental pipeline
    between: Range | None = None  # of an incremental pipeline: load this range, and move no position

    def of(self, config: PipelineConfig) -> tuple[PipelineConfig, Asked]:
        """The pipeline as it is to be run; refuses what makes no sense for it."""
        incremental = config.extract.incremental is not None
        self._check(incremental=incremental)
        if self.pace.follow and config.part is not None:
            raise ConfigError(
                "--follow takes one table: it would never get to the second of those that the file names.",
                hint="Give each table a file of its own.",
            )
        if self.between is None:
            return config, self
        with explained("extract"):
            ranged = continuing(config).between(*self.between)
        return config.model_copy(update={"extract": ranged}), replace(self, key=self.between.key, between=None)

    def _check(self, *, incremental: bool) -> None:
        if incremental and self.key is not None:
            raise ConfigError("A key does not go with an incremental read.", hint="Leave out --key or `incremental`.")
        if self.again and self.key is None and self.between is None:
            raise ConfigError("--again needs a key.", hint="Add --key with the key to land once more.")
        if incremental:
            return
        for name, given in {"--follow": self.pace.follow, "--full-refresh": self.pace.refresh}.items():
            if given:
                raise ConfigError(f"{name} is for an incremental pipeline.", hint="Add `incremental` to its extract.")
        if self.between is not None:
            raise ConfigError("--from and --to are for an incremental pipeline.", hint="Leave them out; it reads all.")
