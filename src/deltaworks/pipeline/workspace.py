"""What is shared by all pipelines of one call: variables, project, vault, Spark."""

from __future__ import annotations

import platform
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from deltaworks.errors import DeltaworksError
from deltaworks.lake.folder import folder_at
from deltaworks.lake.proofs import Proofs
from deltaworks.pipeline.around import Around
from deltaworks.pipeline.document import Document, read_document
from deltaworks.pipeline.looking import looked_at
from deltaworks.pipeline.plan import Plan
from deltaworks.pipeline.preview import DEFAULT_LIMIT, Preview, preview
from deltaworks.pipeline.project import check_pipeline
from deltaworks.pipeline.records import run_folder
from deltaworks.pipeline.runner import Run, run_pipeline
from deltaworks.runs.events import Stage, unobserved
from deltaworks.spark.connector import spelled
from deltaworks.spark.grants import grant
from deltaworks.spark.progress import watched
from deltaworks.spark.session import check_platform, given_conf, isolated
from deltaworks.spark.settings import SparkSettings
from deltaworks.spark.shared import SharedSession
from deltaworks.vault.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from deltaworks.pipeline.asked import Asked
    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.pipeline.prepared import Prepared
    from deltaworks.pipeline.project import Project
    from deltaworks.runs.events import Observer
    from deltaworks.runs.result import RunResult
    from deltaworks.spark.jars import JarProgress
    from deltaworks.vault.credential import CredentialVault


WAREHOUSE = "spark-warehouse"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkEdge:
    """What the caller, not a file, says about Spark."""

    cache: Path
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    java_home: str | None = None
    ivy_settings: Path | None = None
    session: SparkSession | None = None  # the caller's own
    on_jar: Callable[[JarProgress], None] | None = None
    on_tasks: Callable[[int, int], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where pipelines are read, planned and run."""

    project: Project
    variables: Mapping[str, str]
    vault: CredentialVault
    spark: SparkEdge
    environment: Mapping[str, str] = field(default_factory=dict)  # the process's own, for the ways to storage
    observer: Observer = unobserved
    shared: SharedSession = field(default_factory=SharedSession)

    def read(self, path: Path, settings: Mapping[str, Any] | None = None) -> PipelineConfig:
        """Read and check a pipeline file."""
        return self.check(read_document(path), settings)

    def check(self, document: Document, settings: Mapping[str, Any] | None = None) -> PipelineConfig:
        """Check a pipeline that was read already."""
        return check_pipeline(document, self.project, self.variables, settings)

    def parts(self, config: PipelineConfig) -> tuple[PipelineConfig, ...]:
        """One pipeline for each table that a file names."""
        with _hidden_by(self.redactor(config)):
            return config.parts(self.around(config))

    def plan(self, config: PipelineConfig) -> Plan:
        """Say what a run would do; writes nothing."""
        with self._looking(config) as ready:
            return ready if isinstance(ready, Plan) else ready.looked()

    def preview(self, config: PipelineConfig, limit: int = DEFAULT_LIMIT) -> Preview:
        """Show up to so many rows after each step; writes nothing, not even a record."""
        with self._looking(config) as ready:
            self.observer(Stage(config.pipeline_id, "preview"))
            if isinstance(ready, Plan):
                return Preview(plan=ready, limit=limit, steps=(), expectations=ready.kept(config.expect))
            with watched(ready.rows.sparkSession, self.spark.on_tasks):
                return preview(ready, limit)

    @contextmanager
    def _looking(self, config: PipelineConfig) -> Iterator[Prepared | Plan]:
        around = self.around(config)

        def session() -> SparkSession:
            self.observer(Stage(config.pipeline_id, "session"))
            spark = around.session()
            grant(spark, located.accesses())
            return spark

        with _hidden_by(self.redactor(config)):
            self.observer(Stage(config.pipeline_id, "extract"))
            located = config.located(around)
            with looked_at(located, cache(session)) as ready:
                yield ready

    def run(self, config: PipelineConfig, asked: Asked, *, file: str | None = None) -> RunResult:
        """Run one pipeline and write its record."""
        result = run_pipeline(
            Run(
                config=config,
                around=self.around(config),
                proofs=Proofs(folder_at(str(self.spark.cache))),
                runs=run_folder(self.project.runs, self.vault, self.environment),
                redactor=self.redactor(config),
                file=file,
                asked=asked,
                versions=self.versions,
                observer=self.observer,
                on_tasks=self.spark.on_tasks,
            )
        )
        self.shared.went_well()
        return result

    def around(self, config: PipelineConfig) -> Around:
        """What the ends of a pipeline may ask for."""
        return Around(
            session=cache(lambda: self.session_for(config)),
            vault=self.vault,
            environment=self.environment,
            conf=lambda: given_conf(self.spark.session) if self.spark.session else self.settings(config).conf,
        )

    def redactor(self, config: PipelineConfig) -> Redactor:
        """Hides what the pipeline's credentials hold, and the secrets by which it reaches its storage."""
        around = self.around(config)
        named = {name: self.vault.get(name) for name in sorted(config.credential_ids())}
        ways = (around.access_to(end.place, end.credential_id, end.storage_options()) for end in config.ends)
        known = [*(each.secrets() for each in named.values()), *(way.secrets() for way in ways)]
        return Redactor(frozenset[str]().union(*known))

    def session_for(self, config: PipelineConfig) -> SparkSession:
        """A session of its own for one run, so that nothing it sets reaches another."""
        if self.spark.session is not None:
            check_platform(self.spark.session)
            return isolated(self.spark.session)
        return isolated(self.shared.get(self.settings(config), self.spark.on_jar))

    def settings(self, config: PipelineConfig) -> SparkSettings:
        """Spark as the flag, the environment, the pipeline file and the project file say, in that order."""
        levels = (config.spark, *self.project.spark)
        # Tables by name and no metastore: beside the project, as people know it from Spark.
        named = {"spark.sql.warehouse.dir": str(self.project.folder / WAREHOUSE)} if config.names_tables() else {}
        conf = named | {key: spelled(value) for level in reversed(levels) for key, value in level.conf.items()}
        return SparkSettings(
            master=self.spark.master or next((level.master for level in levels if level.master), "local[*]"),
            conf={**conf, **self.spark.conf},
            jars=next((level.jars for level in levels if level.jars), "managed"),
            groups=frozenset({"delta"}) | config.jar_groups(),
            cache=self.spark.cache,
            java_home=self.spark.java_home,
            ivy_settings=self.spark.ivy_settings,
        )

    def versions(self) -> dict[str, str]:
        """The versions of everything that took part."""
        found = {"deltaworks": version("deltaworks"), "python": platform.python_version()}
        spark = self.spark.session or self.shared.spark
        return found | ({"spark": str(spark.version)} if spark else {})


@contextmanager
def _hidden_by(redactor: Redactor) -> Iterator[None]:
    try:
        yield
    except DeltaworksError as error:
        error.args, error.hint = (redactor.text(str(error)),), redactor.text(error.hint)
        raise
