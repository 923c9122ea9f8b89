"""Do these rows fit the Delta table, and what becomes of it? Refused before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.lake.features import require_writable
from deltaworks.lake.fit import Difference, Fit, compared
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.schema import Column, columns
from deltaworks.lake.sql import quoted
from deltaworks.spark.errors import ColumnNotFoundError, explained
from deltaworks.spark.sinks.delta_steps import properties
from deltaworks.spark.sinks.delta_write import path_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import DataFrame

    from deltaworks.lake.table import Table
    from deltaworks.spark.sinks.delta import DeltaSink

WIDENING = "delta.enableTypeWidening"


def check_fit(sink: DeltaSink, rows: DataFrame, table: Table | None, mode: WriteMode) -> None:
    """Refuse rows that the table cannot take, naming each column; looks at no row."""
    _check_named(sink, rows, mode)
    _check_types(rows)
    if sink.replace_where:
        with explained("load.replaceWhere", rows.columns):
            _ = rows.where(sink.replace_where).schema
    if sink.partition_overwrite_mode == "dynamic" and not (table.partition_columns if table else sink.partition_by):
        raise ConfigError(
            f"partitionOverwriteMode is dynamic, but {sink.place} has no partitions.",
            hint="Leave it out to replace all rows, or use replaceWhere; a new table can have partitionBy.",
        )
    if table is not None:
        require_writable(table)
    if table is None or _remade(sink, mode):
        return
    _check_layout(sink, rows, table)
    _check_columns(sink, _fit(sink, rows, table, mode), table)
    if mode is WriteMode.UPSERT:
        _check_conditions(sink, rows)


def aligned(sink: DeltaSink, rows: DataFrame, table: Table | None, mode: WriteMode) -> DataFrame:
    """The rows with narrower types made the table's own."""
    if table is None or _remade(sink, mode):
        return rows
    casts = {each.name.lower(): each.there for each in _fit(sink, rows, table, mode).narrower}
    if not casts:
        return rows
    return rows.selectExpr(*(_cast(name, casts.get(name.lower())) for name in rows.columns))


def widen(sink: DeltaSink, rows: DataFrame, table: Table | None, mode: WriteMode) -> None:
    """Let the table widen its types, where the rows need that and it cannot yet; a commit without rows."""
    if table is None or _remade(sink, mode) or table.properties.get(WIDENING) == "true":
        return
    if _fit(sink, rows, table, mode).wider:
        rows.sparkSession.sql(f"ALTER TABLE {path_name(sink.path)} SET TBLPROPERTIES ('{WIDENING}' = 'true')")


def schema_after(sink: DeltaSink, rows: DataFrame, table: Table | None, mode: WriteMode) -> tuple[Column, ...]:
    """The columns the table will have."""
    incoming = columns(rows.schema.json())
    if table is None or _remade(sink, mode):
        return incoming
    fit = _fit(sink, rows, table, mode)
    wider = {each.name: each.incoming for each in fit.wider}
    there = (Column(each.name, wider.get(each.name, each.type), each.nullable) for each in table.columns)
    return (*there, *(each for each in incoming if each.name in fit.new and sink.merge_schema))


def notes(sink: DeltaSink, rows: DataFrame, table: Table | None, mode: WriteMode) -> tuple[str, ...]:
    """What the file asks for that this load does not do, or does beside the rows."""
    if table is None:
        return ()
    found = [_differs(table, key, value) for key, value in properties(sink).items()]
    if not _remade(sink, mode):
        fit = _fit(sink, rows, table, mode)
        found += [f"{each.name} becomes {each.incoming}; it was {each.there}" for each in fit.wider]
        found += [f"the rows lack {name}" for name in fit.missing]
    return tuple(filter(None, found))


def _differs(table: Table, key: str, wanted: str) -> str | None:
    has = table.properties.get(key)
    if has == wanted:
        return None
    change = f"ALTER TABLE … SET TBLPROPERTIES ('{key}' = '{wanted}')"
    return f"{key} stays {has or 'as it is'}: the table was made without {wanted}; {change} would change it"


def _remade(sink: DeltaSink, mode: WriteMode) -> bool:
    return mode is WriteMode.OVERWRITE and sink.overwrite_schema


def _fit(sink: DeltaSink, rows: DataFrame, table: Table, mode: WriteMode) -> Fit:
    """How the columns compare; of an upsert that names its columns only those count."""
    incoming, there = columns(rows.schema.json()), table.columns
    if mode is not WriteMode.UPSERT or not (sink.update_columns and sink.insert_columns):
        return compared(incoming, there)
    used = {name.lower() for name in (*(sink.merge_keys or ()), *sink.update_columns, *sink.insert_columns)}
    return compared(_among(incoming, used), _among(there, used))


def _among(found: Iterable[Column], names: set[str]) -> list[Column]:
    return [column for column in found if column.name.lower() in names]


def _check_named(sink: DeltaSink, rows: DataFrame, mode: WriteMode) -> None:
    there = {name.lower() for name in rows.columns}
    upsert = mode is WriteMode.UPSERT
    wanted = {
        "mergeKeys": sink.merge_keys if upsert else None,
        "updateColumns": sink.update_columns,
        "insertColumns": sink.insert_columns,
        "orderBy": sink.order_by,
        "partitionBy": sink.partition_by,
        "clusterBy": sink.cluster_by,
        "zOrderColumns": sink.afterwards.z_order_columns,
    }
    for option, names in wanted.items():
        for name in names or ():
            if name.lower() not in there:
                raise ColumnNotFoundError(name, rows.columns, where=f"load.{option}")
    filled = _folded(sink.insert_columns or rows.columns)
    keyless = [key for key in sink.merge_keys or () if key.lower() not in filled]
    if keyless:
        raise ConfigError(
            f"load.insertColumns lacks the merge key {keyless[0]!r}.", hint="Add it: a new row needs its key."
        )


def _check_types(rows: DataFrame) -> None:
    # Delta leaves such a column out without a word.
    untyped = next((name for name, kind in rows.dtypes if kind == "void"), None)
    if untyped is not None:
        raise ConfigError(
            f"Column {untyped!r} has no type: it is only NULL.", hint="Give it one, as CAST(NULL AS string)."
        )


def _check_layout(sink: DeltaSink, rows: DataFrame, table: Table) -> None:
    if sink.partition_by and _folded(sink.partition_by) != _folded(table.partition_columns):
        raise ConfigError(
            f"partitionBy is {list(sink.partition_by)}, but {sink.place} is partitioned by "
            f"{list(table.partition_columns)}.",
            hint="Leave partitionBy out, or change it with writeMode: Overwrite and overwriteSchema: true.",
        )
    if not sink.cluster_by:
        return
    detail = rows.sparkSession.sql(f"DESCRIBE DETAIL {path_name(sink.path)}").collect()[0]
    if _folded(sink.cluster_by) != _folded(detail["clusteringColumns"]):
        wanted = ", ".join(map(quoted, sink.cluster_by))
        raise ConfigError(
            f"clusterBy is {list(sink.cluster_by)}, but {sink.place} is clustered by "
            f"{list(detail['clusteringColumns'])}.",
            hint=f"Leave clusterBy out, or change it with ALTER TABLE … CLUSTER BY ({wanted}).",
        )


def _check_columns(sink: DeltaSink, fit: Fit, table: Table) -> None:
    problems, hints = _type_problems(sink, fit)
    if fit.new and not sink.merge_schema:
        problems.append(f"{sink.place} has no column {_listed(fit.new)}")
        hints.append("Add new columns with mergeSchema: true, or drop them with a dropColumns transform.")
    if fit.missing and not sink.merge_schema:
        problems.append(f"the rows lack {_listed(fit.missing)}, which {sink.place} has")
        hints.append("Add them with a withColumn transform, or write mergeSchema: true to leave them out.")
    if problems:
        there = f"Columns there: {', '.join(column.name for column in table.columns)}."
        raise ConfigError(f"load: {'; '.join(problems)}.", hint=" ".join([*hints, there]))


def _type_problems(sink: DeltaSink, fit: Fit) -> tuple[list[str], list[str]]:
    bad = [*fit.wrong, *(() if sink.merge_schema else fit.wider)]
    if not bad:
        return [], []
    widening = ["Write mergeSchema: true to widen the table."] if bad == [*fit.wider] else []
    return [_mismatch(each) for each in bad], [*widening, "Cast with a cast transform."]


def _mismatch(each: Difference) -> str:
    return f"column {each.name!r} is {each.incoming} in the rows and {each.there} in the table"


def _check_conditions(sink: DeltaSink, rows: DataFrame) -> None:
    given = {"updateCondition": sink.update_condition, "deleteCondition": sink.delete_condition}
    if not any(given.values()):
        return
    target = rows.sparkSession.read.format("delta").load(sink.path)
    pair = rows.alias("source").crossJoin(target.alias("target"))
    known = [*(f"source.{name}" for name in rows.columns), *(f"target.{name}" for name in target.columns)]
    for option, condition in given.items():
        if condition:
            with explained(f"load.{option}", known):
                _ = pair.where(condition).schema


def _folded(names: Iterable[str]) -> list[str]:
    """Names as Spark compares them."""
    return [name.lower() for name in names]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _cast(name: str, kind: str | None) -> str:
    return quoted(name) if kind is None else f"CAST({quoted(name)} AS {kind}) AS {quoted(name)}"
