"""Which keys of a Delta sink go together, and with which write mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaworks.lake.after import After
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import problem
from deltaworks.spark.catalog import require_one_place
from deltaworks.spark.keys import check_newest
from deltaworks.spark.sinks.base import refuse_idle
from deltaworks.spark.stamp import RESERVED_OPTIONS

if TYPE_CHECKING:
    from deltaworks.spark.sinks.delta import DeltaSink

ONLY_FOR = {
    WriteMode.UPSERT: (
        "merge_keys",
        "update_condition",
        "delete_condition",
        "update_columns",
        "insert_columns",
        "on_null_keys",
        "on_duplicate_keys",
        "order_by",
        "checks",
    ),
    WriteMode.OVERWRITE: ("replace_where", "partition_overwrite_mode", "overwrite_schema"),
}
HAVE_A_KEY = {"mergeschema", "overwriteschema", "replacewhere", "partitionoverwritemode", "optimizewrite"}
PROPERTIES = {
    "enable_change_data_feed": "delta.enableChangeDataFeed",
    "data_skipping_num_indexed_cols": "delta.dataSkippingNumIndexedCols",
    "isolation_level": "delta.isolationLevel",
}


def check_mode(sink: DeltaSink, mode: WriteMode) -> None:
    """Refuse what a write mode lacks, and what would do nothing in it."""
    if mode is WriteMode.UPSERT and not sink.merge_keys:
        raise problem("Upsert needs mergeKeys", 'Add mergeKeys: ["id"] under load.connectionParams.')
    refuse_idle(sink, mode, ONLY_FOR)


def check_together(sink: DeltaSink) -> None:
    """Refuse keys that contradict each other."""
    require_one_place(sink.path, sink.table)
    _refuse_options(sink)
    _refuse_pairs(sink)
    _check_duplicates(sink)
    _check_properties(sink)
    _check_after(sink)


def _refuse_options(sink: DeltaSink) -> None:
    for name in sink.options:  # Spark ignores case
        if name.lower() in RESERVED_OPTIONS:
            raise problem(f"The option {name!r} is set by deltaworks itself", "Leave it out.")
        if name.lower() in HAVE_A_KEY:
            raise problem(f"The option {name!r} is a key of its own", f"Move {name} to connectionParams.")


def _refuse_pairs(sink: DeltaSink) -> None:
    dynamic = sink.partition_overwrite_mode == "dynamic"
    pairs = (
        ("partitionBy", sink.partition_by, "clusterBy", sink.cluster_by),
        ("replaceWhere", sink.replace_where, "overwriteSchema", sink.overwrite_schema),
        ("replaceWhere", sink.replace_where, "partitionOverwriteMode: dynamic", dynamic),
        ("overwriteSchema", sink.overwrite_schema, "partitionOverwriteMode: dynamic", dynamic),
    )
    for one, first, other, second in pairs:
        if first and second:
            raise problem(f"{one} does not go with {other}", "Leave one of them out.")


def _check_duplicates(sink: DeltaSink) -> None:
    check_newest(sink.on_duplicate_keys, sink.order_by)
    if not sink.checks and sink.on_null_keys == "fail":
        raise problem("onNullKeys: fail needs checks", "Leave out checks: false.")


def _check_properties(sink: DeltaSink) -> None:
    for field, key in PROPERTIES.items():
        given = getattr(sink, field)
        if given is not None and key in sink.table_properties and _text(given) != _text(sink.table_properties[key]):
            raise problem(f"{_key(sink, field)} and tableProperties say different things", "Leave one of them out.")


def _check_after(sink: DeltaSink) -> None:
    for name in After.model_fields:
        inner = getattr(sink, name)
        if inner is not None and name in sink.after.model_fields_set and inner != getattr(sink.after, name):
            raise problem(f"{_key(sink, name)} is said twice, here and in `after`", "Leave one of them out.")


def _key(sink: DeltaSink, field: str) -> str:
    return type(sink).model_fields[field].alias or field


def _text(value: Any) -> str:
    return str(value).lower()
