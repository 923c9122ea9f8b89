"""An incremental run: batch after batch, until what was there has been read, or until it should end."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltaworks import failpoints
from deltaworks.errors import ConfigError, DeltaworksError, SetupError
from deltaworks.lake.mode import WriteMode
from deltaworks.pipeline.incremental import Chain, Start, continuing, since, start_of
from deltaworks.pipeline.prepared import assembled, held_inputs, read_of_inputs
from deltaworks.runs.result import LoadResult, Standing
from deltaworks.spark.errors import explained
from deltaworks.spark.gateway import is_remote
from deltaworks.spark.sources.incremental import Request, Streamed
from deltaworks.spark.streaming import Checkpoint, Stopping, run_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.positions import Reached
    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.pipeline.prepared import Prepared
    from deltaworks.spark.sources.incremental import Delivered

LOOK = timedelta(seconds=10)  # how often a source is looked at that Spark does not follow by itself

UNKNOWN = "not known"
MOST_WAITS = 10  # for what is away, one after the other, before a run that follows gives up
LONGEST_WAIT = 60.0  # seconds


def _may_pass(error: DeltaworksError) -> bool:
    """Whether waiting can help: a server that is away may come back, and nobody wins every race."""
    return error.transient or isinstance(error, SetupError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How an incremental run goes on."""

    follow: bool = False  # until it should end; else until all that was there has been read
    every: timedelta | None = None  # from the beginning of a batch to the next; none is the source's own pace
    refresh: bool = False  # begin with all there is, in the place of all that had landed
    stopping: Stopping = field(default_factory=Stopping)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a run gives its batches, and wants to hear of them."""

    run_id: str
    session: Callable[[], SparkSession]  # ready to write to the target
    begun: Callable[[Reached], None]  # before the first batch, with what the last one says
    write: Callable[[Prepared, Commit, bool], LoadResult]
    landed: Callable[[LoadResult], None]
    waiting: Callable[[DeltaworksError], None]


def request_for(
    config: PipelineConfig, run_id: str, position: Any, *, whole: bool = False, looks: bool = False
) -> Request:
    """What is asked of the source next."""
    return Request(
        position=position,
        scratch=lambda own: f"{config.load.scratch(own)}-source",
        run_id=run_id,
        once=config.write_mode is not WriteMode.UPSERT,
        whole=whole,
        looks=looks,
        access=config.load.access,
    )


class Following:
    """One incremental run."""

    def __init__(self, config: PipelineConfig, pace: Pace, work: Work) -> None:
        self._config, self._pace, self._work = config, pace, work
        self._source = continuing(config)
        self._waited = False  # when it ended
        self.result = LoadResult(success=True, rows_read=0, batches=0)

    def run(self) -> tuple[LoadResult, Standing]:
        """Land what is new, and say where that leaves off."""
        start = self._start(refresh=self._pace.refresh)
        chain = self._chain(start)
        if self._pace.refresh:
            self._refresh(chain)
        if self._pace.follow:
            chain = self._follow(chain)
        elif not self._nothing_new(chain):
            self._go_on(chain)
        return self.result, self._standing(chain, start)

    def _start(self, *, refresh: bool = False) -> Start:
        with explained("extract"):
            start = start_of(self._config, refresh=refresh)
        if start.reached is not None:
            self._work.begun(start.reached)
        return start

    def _chain(self, start: Start) -> Chain:
        return Chain(self._config, self._work.run_id, start)

    def _follow(self, chain: Chain) -> Chain:
        """Go on until it should end; what is away for a while is waited for, and then the target is asked again."""
        self._work.session()  # what the machine lacks is told at once
        waits = 0
        while True:
            before = chain.batch
            try:
                chain = self._chain(self._start()) if waits else chain
                self._go_on(chain)
                return chain
            except DeltaworksError as error:
                waits = 1 if chain.batch > before else waits + 1
                if not _may_pass(error) or waits > MOST_WAITS:
                    raise
                self._work.waiting(error)
                self._pace.stopping.wait(min(2.0**waits, LONGEST_WAIT))
                if self._pace.stopping.wished:
                    self._waited = True
                    return chain

    @cached_property
    def _spark(self) -> SparkSession:
        return self._work.session()

    def _nothing_new(self, chain: Chain) -> bool:
        with explained("extract"):
            return self._source.nothing_follows(request_for(self._config, self._work.run_id, chain.position))

    def _refresh(self, chain: Chain) -> None:
        with self._following(chain, whole=True) as delivered:
            assert delivered is not None
            self._land(chain, delivered, self._spark, refresh=True)

    def _go_on(self, chain: Chain) -> None:
        if isinstance(self._source, Streamed):
            self._stream(self._source, chain)
        else:
            self._look_again_and_again(chain)

    def _look_again_and_again(self, chain: Chain) -> None:
        pace, every = self._pace, (self._pace.every or LOOK).total_seconds()
        while not pace.stopping.wished:
            begun = time.monotonic()
            with self._following(chain) as delivered:
                if delivered is not None:
                    self._land(chain, delivered, self._spark)
            if not pace.follow and not (delivered and delivered.more):
                return  # what comes while it runs is for the next one: else a busy source would never let it end
            if pace.follow and (delivered is None or pace.every is not None):
                pace.stopping.wait(begun + every - time.monotonic())

    @contextmanager
    def _following(self, chain: Chain, *, whole: bool = False) -> Iterator[Delivered | None]:
        request = request_for(self._config, self._work.run_id, chain.position, whole=whole)
        with ExitStack() as stack:
            with explained("extract"):
                delivered = stack.enter_context(self._knowing().following(self._spark, request))
            yield delivered

    def _knowing(self) -> Any:
        """The source, knowing the target as it is by now."""
        with explained("load"):
            return self._config.knowing().extract

    def _stream(self, source: Streamed, chain: Chain) -> None:
        if is_remote(self._spark):
            raise ConfigError(
                "Spark Connect cannot follow a stream from here: its batches would run in another process.",
                hint="Run incremental pipelines from Kafka or Delta on local[*], spark://, yarn or k8s://.",
            )
        with tempfile.TemporaryDirectory(prefix="deltaworks-") as folder, explained("extract"):
            checkpoint = Checkpoint(Path(folder) / "checkpoint")
            checkpoint.begin_after(chain.batch, source.to_offset(chain.position))
            every = (self._pace.every or timedelta()) if self._pace.follow else None

            def one(rows: DataFrame, number: int) -> None:
                assert number == chain.batch + 1, "the checkpoint was made so"
                with explained("extract"):
                    knowing = self._knowing()
                    end = knowing.of_offset(checkpoint.end_of(number), chain.position)
                    delivered = knowing.delivered(rows, chain.position, end)
                self._land(chain, delivered, rows.sparkSession)

            run_stream(source.stream(self._spark), checkpoint, one, every=every, stopping=self._pace.stopping)

    def _land(self, chain: Chain, delivered: Delivered, spark: SparkSession, *, refresh: bool = False) -> None:
        """One batch: put together, compared with what the target says, written in one commit, and read back."""
        config = self._config
        with held_inputs(config) as spans, assembled(config, delivered, spans, spark) as ready:
            with explained("load"):
                commit = chain.commit(delivered.end, read_of_inputs(config, spans), refresh=refresh)
            failpoints.reach("before_batch")
            result = self._work.write(ready, commit, refresh)
            with explained("load"):
                result = chain.landed(commit, result)
        failpoints.reach("after_batch")
        self.result = self.result.plus(result)
        self._work.landed(self.result)

    def _standing(self, chain: Chain, start: Start) -> Standing:
        return Standing(
            batch=chain.batch,
            since=since(start.reached),
            position=self._source.told(chain.position),
            end=self._end(),
        )

    def _end(self) -> str:
        if self._waited:  # whoever wants it to end does not want to wait once more
            return UNKNOWN
        try:
            with explained("extract"):
                return self._source.told(self._source.end())
        except DeltaworksError as error:
            if not _may_pass(error):
                raise
            return UNKNOWN  # what has landed has landed
