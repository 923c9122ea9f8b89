"""Records of text files, each read whole or told: Spark on its own gives nulls for what it cannot read."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from deltaworks.lake.sql import quoted
from deltaworks.spark.unread import RECORD

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

BAD = "__deltaworks_bad_record"
LONGEST = 300  # signs of a record that are shown
REPLACED = "\ufffd"  # what Spark puts in the place of bytes that are no text


def strict(rows: DataFrame, *, text: bool) -> DataFrame:
    """The same rows; the first that could not be read fails whoever looks at them, with its file and text.

    A record that does not fit stands in the column `BAD`, where there is one. With `text`, bytes that are no text of
    the file's encoding are looked for as well.
    """
    from pyspark.sql.functions import concat, lit, raise_error, when

    names = [name for name in rows.columns if name != BAD]
    wrong = _wrong(rows, text=text)
    if wrong is None:
        return rows
    told = concat(rows.metadataColumn("_metadata")["file_path"], lit(RECORD), _record(rows, names))
    return rows.where(when(wrong, raise_error(told)).otherwise(lit(True))).drop(BAD)


def _wrong(rows: DataFrame, *, text: bool) -> Column | None:
    from pyspark.sql.functions import coalesce, col, lit

    found = [col(BAD).isNotNull()] if BAD in rows.columns else []
    strings = [name for name, kind in rows.dtypes if kind == "string" and name != BAD] if text else []
    found += [coalesce(col(quoted(name)).contains(REPLACED), lit(False)) for name in strings]
    return reduce(lambda one, other: one | other, found) if found else None


def _record(rows: DataFrame, names: list[str]) -> Column:
    """The record's text, and what it was read as: so every column is read, whichever are wanted later."""
    from pyspark.sql.functions import coalesce, col, concat, left, lit, regexp_replace, struct, to_json

    became = to_json(struct(*(col(quoted(name)) for name in names)), {"ignoreNullFields": "false"})
    if BAD not in rows.columns:
        return left(became, lit(LONGEST))
    line = concat(left(regexp_replace(col(BAD), r"\s+", " "), lit(LONGEST)), lit(", read as "))
    return concat(coalesce(line, lit("")), left(became, lit(LONGEST)))
