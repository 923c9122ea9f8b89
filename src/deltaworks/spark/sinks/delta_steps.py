"""From a Delta sink, the table as it is and what is known of the batch, to the one step that writes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.lake.fit import holds_all
from deltaworks.lake.merge import Condition, MergePlan
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.reach import Reach, conditions, files_within
from deltaworks.lake.sql import quoted
from deltaworks.spark.catalog import spelled as spelled_name
from deltaworks.spark.changes import GONE
from deltaworks.spark.connector import spelled
from deltaworks.spark.sinks.delta_rules import PROPERTIES
from deltaworks.spark.sinks.delta_write import Create, Merge, Save

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaworks.lake.table import Table
    from deltaworks.spark.look import Findings
    from deltaworks.spark.sinks.delta import DeltaSink


def step_for(
    sink: DeltaSink,
    table: Table | None,
    mode: WriteMode,
    findings: Findings | None = None,
    *,
    repeats: bool = False,
    columns: Sequence[str] = (),
) -> Save | Create | Merge:
    """Decide the one write that does what the file says to the table as it is.

    Where the rows are changes, of which some say that a row is gone, `columns` are those that land.
    """
    if table is None:
        return _create(sink, mode)
    if mode is WriteMode.UPSERT:
        return _merge(sink, table, findings, repeats=repeats, columns=tuple(columns))
    return _save(sink, mode)


def refresh(sink: DeltaSink, mode: WriteMode) -> Save:
    """Decide the write that puts the rows in the place of all that are there."""
    keep = _merge_plan(sink).rows_to_insert() if mode is WriteMode.UPSERT else None
    step = _save(sink.model_copy(update={"replace_where": None, "partition_overwrite_mode": None}), WriteMode.OVERWRITE)
    return replace(step, keep=keep, columns=sink.insert_columns or ())


def files_read(table: Table, findings: Findings | None) -> int:
    """How many of the table's files can hold a key of the batch."""
    reaches = _reaches(table, findings)
    return files_within(table.file_statistics, reaches) if reaches else table.files.count


def _save(sink: DeltaSink, mode: WriteMode) -> Save:
    overwrite = mode is WriteMode.OVERWRITE
    options = sink.spark_options()
    if sink.merge_schema:
        options["mergeSchema"] = "true"
    if sink.replace_where:
        options["replaceWhere"] = sink.replace_where
    if overwrite:
        # Said always, so that a session's own setting does not decide what is replaced.
        options["partitionOverwriteMode"] = sink.partition_overwrite_mode or "static"
    if sink.overwrite_schema:
        options["overwriteSchema"] = "true"
    return Save(
        path=sink.path,
        mode="overwrite" if overwrite else "append",
        options=options,
        conf=_write_conf(sink),
        partition_by=(sink.partition_by or ()) if sink.overwrite_schema else (),
        action=f"{_verb(sink, mode)} {_name(sink)}",
    )


def _verb(sink: DeltaSink, mode: WriteMode) -> str:
    if mode is WriteMode.APPEND:
        return "append to"
    if sink.replace_where:
        return f"replace the rows where {sink.replace_where} of"
    return (
        "replace the partitions of these rows in"
        if sink.partition_overwrite_mode == "dynamic"
        else ("replace all rows of")
    )


def _create(sink: DeltaSink, mode: WriteMode) -> Create:
    return Create(
        path=sink.path,
        name=spelled_name(sink.table) if sink.table else None,
        partition_by=sink.partition_by or (),
        cluster_by=sink.cluster_by or (),
        properties=properties(sink),
        options=sink.spark_options(),
        conf={**_write_conf(sink), **(_options_as_conf(sink) if sink.cluster_by else {})},
        keep=_merge_plan(sink).rows_to_insert() if mode is WriteMode.UPSERT else None,
        require=sink.replace_where,
        columns=sink.insert_columns or (),
        action=f"create {_name(sink)}",
    )


def _options_as_conf(sink: DeltaSink) -> dict[str, str]:
    """The options of the write, for a statement, which takes none."""
    given = {name.lower(): value for name, value in sink.spark_options().items()}
    unknown = next((name for name in given if name not in _CONF), None)
    if unknown is not None:
        raise ConfigError(
            f"The option {unknown!r} cannot be used while a clustered table is made.",
            hint="Leave it out of the first load; later ones can have it.",
        )
    return {_CONF[name]: value for name, value in given.items()}


_CONF = {
    "maxrecordsperfile": "spark.sql.files.maxRecordsPerFile",
    "compression": "spark.sql.parquet.compression.codec",
}


def _merge(
    sink: DeltaSink, table: Table, findings: Findings | None, *, repeats: bool, columns: tuple[str, ...]
) -> Merge:
    plan = _merge_plan(sink)
    if columns:  # the rows have one more, by which they delete
        update, insert = plan.update_columns or columns, plan.insert_columns or columns
        gone = Condition(f"source.{quoted(GONE)}")
        plan = replace(plan, delete_when=gone, update_columns=update, insert_columns=insert)
    if findings is not None:
        within = conditions(_reaches(table, findings))
        plan = replace(plan, null_keys=findings.null_keys > 0, within=within)
    # Rows that are the same however often they are read need not be copied first.
    conf = {"spark.databricks.delta.merge.materializeSource": "none"} if repeats else {}
    action = f"merge into {_name(sink)} by {', '.join(plan.keys)}"
    return Merge(path=sink.path, plan=plan, conf={**_write_conf(sink), **conf}, action=action)


def _merge_plan(sink: DeltaSink) -> MergePlan:
    return MergePlan(
        keys=sink.merge_keys or (),
        update_when=Condition(sink.update_condition) if sink.update_condition else None,
        delete_when=Condition(sink.delete_condition) if sink.delete_condition else None,
        update_columns=sink.update_columns or (),
        insert_columns=sink.insert_columns or (),
        evolve=sink.merge_schema,
    )


def _reaches(table: Table, findings: Findings | None) -> tuple[Reach, ...]:
    """The reach of each key, named and typed as in the table; left out where that could lose a match."""
    there = {column.name.lower(): column for column in table.columns}
    found = ((reach, there.get(reach.column.lower())) for reach in (findings.reaches if findings else ()))
    return tuple(
        replace(reach, column=column.name, kind=column.type)
        for reach, column in found
        if column is not None and (reach.kind == column.type or _is_whole(column.type, reach.kind))
    )


def _is_whole(there: str, incoming: str) -> bool:
    return "int" in there and "int" in incoming and holds_all(there, incoming)


def properties(sink: DeltaSink) -> dict[str, str]:
    """The table properties the file asks for."""
    named = {key: getattr(sink, field) for field, key in PROPERTIES.items() if getattr(sink, field) is not None}
    return {key: spelled(value) for key, value in {**sink.table_properties, **named}.items()}


def _write_conf(sink: DeltaSink) -> dict[str, str]:
    """What Delta takes only from the session's configuration."""
    # Spark's default, INT96, counts nanoseconds: other readers cannot tell years before 1677 or after 2262.
    conf = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}
    shuffled = sink.optimize_write if sink.optimize_write is not None else (sink.target_file_size and True)
    if shuffled is not None:
        conf["spark.databricks.delta.optimizeWrite.enabled"] = spelled(shuffled)
    if sink.auto_compact is not None:
        conf["spark.databricks.delta.autoCompact.enabled"] = spelled(sink.auto_compact)
    if sink.target_file_size is not None:
        conf["spark.databricks.delta.optimizeWrite.binSize"] = f"{max(1, sink.target_file_size >> 20)}m"
        conf["spark.databricks.delta.autoCompact.maxFileSize"] = str(sink.target_file_size)
    return conf


def _name(sink: DeltaSink) -> str:
    return sink.table or sink.path
