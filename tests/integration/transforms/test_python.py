from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter
from tests.integration.rows import collected, frame

from deltaworks.errors import ConfigError, DeltaworksError, RunError
from deltaworks.spark.errors import explained
from deltaworks.spark.transforms import AnyTransform

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def called(rows: DataFrame, folder: Path, function: str, **arguments: Any) -> DataFrame:
    step = {"type": "python", "parameters": {"function": function, "arguments": arguments}}
    found: DataFrame = TypeAdapter(AnyTransform).validate_python(step, context={"folder": folder}).apply(rows)
    return found


def write(folder: Path, **modules: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder


@pytest.mark.parametrize("function", ["steps_here:keep", "steps_here.keep"])
def test_a_function_beside_the_file_is_given_the_rows_and_its_arguments(
    spark: SparkSession, tmp_path: Path, function: str
) -> None:
    write(tmp_path, steps_here="def keep(rows, *, above):\n    return rows.where(rows.n > above)\n")

    kept = called(frame(spark, {"n": 1}, {"n": 5}), tmp_path, function, above=2)

    assert collected(kept) == [{"n": 5}]


def test_a_function_of_an_installed_package_is_found(spark: SparkSession, tmp_path: Path) -> None:
    kept = called(frame(spark, {"n": 1}), tmp_path, "pyspark.sql:DataFrame.limit", num=0)

    assert collected(kept) == []


def test_its_own_functions_reach_the_executors(spark: SparkSession, tmp_path: Path) -> None:
    write(
        tmp_path,
        factor="TIMES = 3\n",
        steps_udf=(
            "from pyspark.sql.functions import udf\nimport factor\n\n@udf('bigint')\ndef times(n):\n"
            "    return n * factor.TIMES\n\ndef run(rows):\n    return rows.select(times('n').alias('n'))\n"
        ),
    )

    assert collected(called(frame(spark, {"n": 2}), tmp_path, "steps_udf:run")) == [{"n": 6}]


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ("def run(rows):\n    pass", ConfigError, "steps_bad:run returned a NoneType, not a DataFrame"),
        ("def run():\n    pass", ConfigError, "cannot be called like this: too many positional arguments"),
        ("def run(rows):\n    1 / 0", RunError, r"failed in steps_bad\.py, line 2: ZeroDivisionError"),
        ("import json\ndef run(rows):\n    json.loads('')", RunError, r"failed in steps_bad\.py, line 3: JSONDecodeE"),
        ("def run(rows):\n    return rows.select('nope')", ConfigError, "There is no column 'nope'"),
    ],
)
def test_what_goes_wrong_inside_is_said(
    spark: SparkSession, tmp_path: Path, body: str, kind: type[DeltaworksError], said: str
) -> None:
    write(tmp_path, steps_bad=f"{body}\n")

    with pytest.raises(kind, match=said), explained("transform[0] python", ["n"]):
        called(frame(spark, {"n": 1}), tmp_path, "steps_bad:run")


def test_nothing_of_the_folder_stays_behind(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, steps_gone="import os\n\ndef run(rows):\n    return rows\n")
    path, finders = [*sys.path], [*sys.meta_path]

    called(frame(spark, {"n": 1}), tmp_path, "steps_gone:run")

    assert (sys.path, sys.meta_path) == (path, finders)
    assert "steps_gone" not in sys.modules
    assert sys.modules["os"] is os
