"""Carrying out one pipeline, and writing down what happened."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from deltaworks import failpoints
from deltaworks.errors import DeltaworksError, RunError, StoppedError
from deltaworks.lake.commit import Commit
from deltaworks.pipeline.afterwards import carry_out
from deltaworks.pipeline.asked import Asked
from deltaworks.pipeline.following import Following, Work
from deltaworks.pipeline.keys import commit_for
from deltaworks.pipeline.prepared import held, prepared
from deltaworks.runs.events import Stage, unobserved
from deltaworks.runs.heartbeat import beating
from deltaworks.runs.log import run_log
from deltaworks.runs.process import Process, user_name
from deltaworks.runs.record import RunRecord, Status, new_run_id, now
from deltaworks.runs.result import LoadResult, RunResult, Standing, StepResult
from deltaworks.spark.aside import tidy, tidy_batches
from deltaworks.spark.grants import grant
from deltaworks.spark.progress import watched
from deltaworks.spark.safety import require_safe
from deltaworks.vault.redaction import Redactor

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from deltaworks.lake.positions import Reached
    from deltaworks.lake.proofs import Proofs
    from deltaworks.pipeline.around import Around
    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.pipeline.following import Pace
    from deltaworks.pipeline.prepared import Prepared
    from deltaworks.runs.events import Observer
    from deltaworks.runs.folder import RunFolder


NOTED_EVERY = 5.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One pipeline about to run."""

    config: PipelineConfig
    around: Around
    proofs: Proofs
    runs: RunFolder
    redactor: Redactor = field(default_factory=Redactor)
    file: str | None = None
    asked: Asked = field(default_factory=Asked)
    versions: Callable[[], dict[str, str]] = dict
    observer: Observer = unobserved
    on_tasks: Callable[[int, int], None] | None = None


def run_pipeline(run: Run) -> RunResult:
    """Run a pipeline once; its record is closed whatever happens."""
    run.runs.close_interrupted()
    running = _Running(run)
    with beating(run.runs, running.record) as file, run_log(file, running.record.run_id, run.redactor) as log:
        try:
            return running.load(log)
        except BaseException as error:
            ours = running.closed(error)
            log.error("%s", ours, exc_info=error)
            if ours is error:
                raise
            raise ours from error


class _Running:
    """One run under way: the stages in the order the data passes them, and the record they leave."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.record, self._saved = _opened(run), time.monotonic()
        self.folder = run.runs.of(self.record)
        run.runs.save(self.record)

    def load(self, log: logging.LoggerAdapter[logging.Logger]) -> RunResult:
        """Read, transform and write; what landed is in the closed record."""
        started = time.monotonic()
        config, asked = self.run.asked.of(self.run.config)
        config = config.located(self.run.around)
        if config.extract.incremental is None:
            result, standing = self._once(config, asked, log), None
        else:
            result, standing = self._followed(config, asked.pace, log)
        result = result.after(time.monotonic() - started)
        log.info("done: %s", result)
        self._save(replace(self.record, versions=self.run.versions()).landed(result, standing))
        after = self._after(config, log) if result.version is not None and not result.already_landed else ()
        self._save(self.record.succeeded(after))
        return RunResult(
            run_id=self.record.run_id,
            pipeline_id=config.pipeline_id,
            load=result,
            record=self.folder,
            part=config.part,
            standing=standing,
            after=after,
        )

    def _once(self, config: PipelineConfig, asked: Asked, log: logging.LoggerAdapter[logging.Logger]) -> LoadResult:
        """One load, whose key may have landed before."""
        commit, landed = commit_for(
            config.load, run_id=self.record.run_id, pipeline=config.pipeline_id, key=asked.key, again=asked.again
        )
        result = landed or self._written(config, commit, log)
        return self._tidied(config, commit, result)

    def _followed(
        self, config: PipelineConfig, pace: Pace, log: logging.LoggerAdapter[logging.Logger]
    ) -> tuple[LoadResult, Standing]:
        """As many loads as there are batches, each beginning where the target says that the last one ended."""

        def session() -> SparkSession:
            with self._stage("session", log):
                spark = self._granted(config)
            require_safe(config.load, spark, self.run.proofs)
            return spark

        def write(ready: Prepared, commit: Commit, refresh: bool) -> LoadResult:
            if not self.record.plan:
                self._save(replace(self.record, plan=self.run.redactor.value(ready.plan.to_dict())))
            with self._stage(f"batch {commit.batch}", log, ready.plan.reads), watched(spark(), self.run.on_tasks):
                result = ready.write(commit, refresh=refresh)
            return self._tidied(config, commit, result, refresh=refresh)

        spark = cache(session)
        self._announce("extract")

        def waiting(error: DeltaworksError) -> None:
            said = self.run.redactor.text(str(error))
            self._announce("waiting", said)
            log.warning("waiting: %s", said)

        def begun(found: Reached) -> None:
            if config.sets_aside:  # a run that was killed right behind its commit has not come to this
                landed = Commit(run_id=found.run_id, pipeline=config.pipeline_id, batch=found.batch)
                tidy_batches(config.load, landed, spark, whole=found.anew)

        work = Work(
            run_id=self.record.run_id, session=spark, begun=begun, write=write, landed=self._noted, waiting=waiting
        )
        return Following(config, pace, work).run()

    def _noted(self, result: LoadResult) -> None:
        """Note what has landed while the run goes on, now and then."""
        if time.monotonic() - self._saved > NOTED_EVERY:
            self._save(self.record.landed(result))

    def _tidied(
        self, config: PipelineConfig, commit: Commit, result: LoadResult, *, refresh: bool = False
    ) -> LoadResult:
        """See that beside the target there is just what belongs to the load; the rows have landed, whatever happens."""
        failpoints.reach("after_landing")
        if not config.sets_aside:
            return result
        try:
            tidy(config.load, commit, result, lambda: self._granted(config), whole=refresh)
        except DeltaworksError as error:
            note = f"rows that an earlier try had set aside are still there: {error}"
            return replace(result, notes=(*result.notes, note))
        return result

    def _granted(self, config: PipelineConfig) -> SparkSession:
        spark = self.run.around.session()
        grant(spark, config.accesses())
        return spark

    def _after(self, config: PipelineConfig, log: logging.LoggerAdapter[logging.Logger]) -> tuple[StepResult, ...]:
        steps = carry_out(config.load, self.run.around.session, self._announce)
        for step in steps:
            log.info("%s", step)
        return steps

    def _written(
        self, config: PipelineConfig, commit: Commit, log: logging.LoggerAdapter[logging.Logger]
    ) -> LoadResult:
        with ExitStack() as run:
            with self._stage("extract", log):
                spans = run.enter_context(held(config))
            with self._stage("session", log):
                spark = self._granted(config)
            with self._stage("plan", log):
                ready = run.enter_context(prepared(config, spans, spark))
            self._save(replace(self.record, plan=self.run.redactor.value(ready.plan.to_dict())))
            require_safe(config.load, spark, self.run.proofs)
            with self._stage("load", log, ready.plan.write.action), watched(spark, self.run.on_tasks):
                return ready.write(commit)

    @contextmanager
    def _stage(self, name: str, log: logging.LoggerAdapter[logging.Logger], detail: str = "") -> Iterator[None]:
        self._announce(name, detail)
        started = time.monotonic()
        yield
        log.info("%s took %.2f s %s", name, time.monotonic() - started, detail)

    def _announce(self, name: str, detail: str = "") -> None:
        self.run.observer(Stage(self.run.config.pipeline_id, name, detail))

    def closed(self, error: BaseException) -> DeltaworksError:
        """Close the record with what went wrong, as one of our errors with every secret hidden."""
        ours = _ours(error)
        ours.args = (self.run.redactor.text(str(ours)),)
        ours.hint = self.run.redactor.text(ours.hint)
        ours.record = self.folder
        self._save(self.record.failed(ours))
        return ours

    def _save(self, record: RunRecord) -> None:
        self.record, self._saved = record, time.monotonic()
        self.run.runs.save(record)


def _ours(error: BaseException) -> DeltaworksError:
    if isinstance(error, DeltaworksError):
        return error
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return StoppedError("The run was stopped.", hint="Run it again; what had landed is in the table.")
    return RunError(
        f"{type(error).__name__}: {error}", hint="This looks like a bug of deltaworks; run.log has the story."
    )


def _opened(run: Run) -> RunRecord:
    return RunRecord(
        run_id=new_run_id(),
        pipeline_id=run.config.pipeline_id,
        status=Status.RUNNING,
        started=now(),
        process=Process.current(),
        user=user_name(),
        file=run.file,
        key=run.asked.between.key if run.asked.between else run.asked.key,
        part=run.config.part,
        config=run.redactor.value(run.config.model_dump(mode="json", by_alias=True, exclude_none=True)),
    )
