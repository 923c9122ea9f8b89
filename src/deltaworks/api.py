"""The public Python surface. This is an edge: the process environment is read here when none is given."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError, DeltaworksError
from deltaworks.lake.folder import folder_at
from deltaworks.lake.proofs import Proofs
from deltaworks.pipeline.around import Around
from deltaworks.pipeline.asked import Asked, Range
from deltaworks.pipeline.checking import checked
from deltaworks.pipeline.config import ExtractPart, LoadPart, PipelineConfig
from deltaworks.pipeline.document import Document, read_document
from deltaworks.pipeline.following import Pace
from deltaworks.pipeline.keys import commit_for
from deltaworks.pipeline.project import find_project
from deltaworks.pipeline.vaults import VaultEdge, vault_for
from deltaworks.pipeline.workspace import SparkEdge, Workspace
from deltaworks.runs.record import new_run_id
from deltaworks.runs.result import LoadResult, RunResult
from deltaworks.spark.batch import Batch
from deltaworks.spark.errors import explained
from deltaworks.spark.grants import grant
from deltaworks.spark.hidden import visible
from deltaworks.spark.landing import land
from deltaworks.spark.safety import require_safe
from deltaworks.spark.session import given_conf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.lake.mode import WriteMode
    from deltaworks.pipeline.plan import Plan
    from deltaworks.vault.credential import CredentialVault


def run(  # noqa: PLR0913 - as many options as the command has
    path_or_config: str | Path | Mapping[str, Any],
    *,
    spark: SparkSession | None = None,
    variables: Mapping[str, str] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - the same name as --set
    vault: CredentialVault | None = None,
    key: str | None = None,
    again: bool = False,
    full_refresh: bool = False,
    between: tuple[str, str] | None = None,
    check: bool = True,
) -> RunResult:
    """Run a pipeline file, or a pipeline given as a mapping, and say what landed.

    With `check=False` a failure is returned in the result instead of raised. Of a file that names several
    tables the result is that of the first, and `parts` has them all. Of an incremental pipeline,
    `full_refresh` loads all there is anew, and `between` a range, without moving its position.
    """
    workspace = _workspace(path_or_config, spark, variables, vault)
    config = workspace.check(_document(path_or_config), set)
    file = None if isinstance(path_or_config, Mapping) else str(path_or_config)
    asked = Asked(key=key, again=again, pace=Pace(refresh=full_refresh), between=Range(*between) if between else None)

    def one(part: PipelineConfig) -> RunResult:
        try:
            return workspace.run(part, asked, file=file)
        except DeltaworksError as error:
            if check or error.record is None:
                raise
            return _failed(part, error, error.record)

    try:
        done = tuple(map(one, workspace.parts(config)))
    finally:
        workspace.shared.stop()
    return replace(done[0], parts=done) if config.extract.several else done[0]


def _failed(config: PipelineConfig, error: DeltaworksError, record: str) -> RunResult:
    return RunResult(
        run_id=record.rpartition("/")[2],
        pipeline_id=config.pipeline_id,
        load=LoadResult.failure(error),
        record=record,
        part=config.part,
    )


def validate(path: str | Path, *, variables: Mapping[str, str] | None = None) -> PipelineConfig:
    """Check a pipeline file without starting anything; raises what is wrong with it."""
    return _workspace(path, None, variables, None).read(Path(path))


def plan(
    path: str | Path,
    *,
    spark: SparkSession | None = None,
    variables: Mapping[str, str] | None = None,
    vault: CredentialVault | None = None,
) -> Plan:
    """Say what running a pipeline file would do; writes nothing.

    Of a file that names several tables it is the plan of the first, and `parts` has them all.
    """
    workspace = _workspace(path, spark, variables, vault)
    try:
        plans = tuple(map(workspace.plan, workspace.parts(workspace.read(Path(path)))))
        return replace(plans[0], parts=plans) if len(plans) > 1 else plans[0]
    finally:
        workspace.shared.stop()


def extract(config: Mapping[str, Any], *, spark: SparkSession, vault: CredentialVault | None = None) -> DataFrame:
    """The rows of a source, given as the `extract` part of a pipeline file."""
    part = checked(ExtractPart, Document({"extract": dict(config)}))
    with explained("extract"):
        source = part.extract.located(_around(spark, vault))
        grant(spark, [source.access])
        span: Any = source.fixed()  # each source knows its own kind
        return visible(source.read(spark, span))


def load(
    rows: DataFrame,
    config: Mapping[str, Any],
    mode: WriteMode | str,
    *,
    vault: CredentialVault | None = None,
    pipeline_id: str | None = None,
    key: str | None = None,
) -> LoadResult:
    """Write rows to a sink, given as the `load` part of a pipeline file; a failure is returned, not raised.

    An upsert stamps the rows' own session for its one statement: do not write through
    that session from another thread meanwhile. A key needs a `pipeline_id`.
    """
    started = time.monotonic()
    try:
        part = checked(LoadPart, Document({"load": dict(config), "writeMode": str(mode)}))
        result = _loaded(rows, part, vault, pipeline_id=pipeline_id, key=key)
    except DeltaworksError as error:
        result = LoadResult.failure(error)
    return result.after(time.monotonic() - started)


def _around(spark: SparkSession, vault: CredentialVault | None) -> Around:
    environment = dict(os.environ)
    if vault is None:
        vault = vault_for(find_project(Path.cwd(), None, environment).vault, VaultEdge(variables=environment))
    return Around(session=lambda: spark, vault=vault, environment=environment, conf=lambda: given_conf(spark))


def _loaded(
    rows: DataFrame, part: LoadPart, vault: CredentialVault | None, *, pipeline_id: str | None, key: str | None
) -> LoadResult:
    if key is not None and pipeline_id is None:
        raise ConfigError("A key needs a pipeline_id.", hint="Give pipeline_id too: keys are counted per pipeline.")
    with explained("load"):
        around = _around(rows.sparkSession, vault)
        sink = part.load.located(around)
        grant(rows.sparkSession, [sink.access])
        plan = sink.plan(rows, part.write_mode)
        require_safe(sink, rows.sparkSession, Proofs(folder_at(str(cache_folder(around.environment)))))
        commit, landed = commit_for(sink, run_id=new_run_id(), pipeline=pipeline_id, key=key)
        result = landed or land(sink, Batch(rows=rows), part.write_mode, commit)
        return replace(result, notes=(*plan.notes, *result.notes))


def cache_folder(variables: Mapping[str, str]) -> Path:
    """Where jars and the like are kept between runs."""
    base = variables.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "deltaworks"


def spark_edge(variables: Mapping[str, str], session: SparkSession | None = None) -> SparkEdge:
    """What the environment says about Spark."""
    ivy = variables.get("DELTAWORKS_IVY_SETTINGS")
    return SparkEdge(
        cache=cache_folder(variables),
        master=variables.get("DELTAWORKS_MASTER"),
        java_home=variables.get("JAVA_HOME"),
        ivy_settings=Path(ivy) if ivy else None,
        session=session,
    )


def _workspace(
    path_or_config: str | Path | Mapping[str, Any],
    spark: SparkSession | None,
    variables: Mapping[str, str] | None,
    vault: CredentialVault | None,
) -> Workspace:
    environment = dict(os.environ)
    given = environment if variables is None else variables
    start = Path.cwd() if isinstance(path_or_config, Mapping) else Path(path_or_config).absolute().parent
    project = find_project(start, None, given, here=Path.cwd())
    return Workspace(
        project=project,
        variables=given,
        environment=environment,
        vault=vault or vault_for(project.vault, VaultEdge(variables=environment)),
        spark=spark_edge(environment, spark),
    )


def _document(path_or_config: str | Path | Mapping[str, Any]) -> Document:
    if isinstance(path_or_config, Mapping):
        return Document(dict(path_or_config))
    return read_document(Path(path_or_config))
