"""Read JSON that stands in a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from deltaworks.errors import ConfigError
from deltaworks.lake.model import FromText, problem
from deltaworks.lake.sql import literal, quoted
from deltaworks.spark.connector import spelled
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, column_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

PARSED = "__deltaworks_parsed"


def _null(value: Any) -> Any:
    return "null" if value is None else value  # YAML's own null


class ParseJson(Transform):
    """Read a column of JSON text into a struct, an array or a map."""

    type: Literal["parseJson"]
    """`parseJson`."""
    column: str
    """The column with the text, or its bytes. A null stays null."""
    ddl: Annotated[str, Field(alias="schema")]
    """What the JSON holds, as SQL types: `id int, tags array<string>`, or `array<int>`."""
    into: str | None = None
    """The column for the result; the same column if left out."""
    on_error: Annotated[Literal["fail", "null"], BeforeValidator(_null)] = "fail"
    """What broken JSON, a value of another type and bad UTF-8 do: `fail` the run, or give a `null`."""
    corrupt: str | None = None
    """A column that receives such text, for an expectation to find; then the run goes on."""
    options: Annotated[dict[str, str | int | float | bool], FromText()] = Field(default_factory=dict)
    """Spark's options for JSON, such as `timestampFormat`."""

    @model_validator(mode="after")
    def _one_way_to_fail(self) -> Self:
        if self.corrupt and "on_error" in self.model_fields_set and self.on_error == "fail":
            raise problem("`corrupt` keeps what `onError: fail` stops at", "Leave one of them out.")
        if self.corrupt and self.corrupt.lower() == (self.into or self.column).lower():
            raise problem(f"Two columns would be called {self.corrupt!r}", "Give `corrupt` another name.")
        return self

    @property
    def repeats(self) -> bool:
        """It looks at one row at a time."""
        return True

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The rows with the parsed column."""
        from pyspark.sql.functions import expr

        field = column_of(rows, self.column)
        if field.dataType.typeName() not in {"string", "binary"}:
            kind = field.dataType.simpleString()
            raise ConfigError(f"Column {self.column!r} is {kind}, not text.", hint="Name a column of JSON text.")
        text = f"CAST({quoted(field.name)} AS STRING)"
        results = {name: expr(value) for name, value in self._results(field.name, text).items()}
        return rows.withColumn(PARSED, self._parsed(text)).withColumns(results).drop(PARSED)

    def describe(self) -> str:
        """Column and types."""
        return f"parse {self.column} as {self.ddl}" + (f" into {self.into}" if self.into else "")

    def _results(self, column: str, text: str) -> dict[str, str]:
        broken = f"NOT is_valid_utf8({text}) OR {PARSED}.corrupt IS NOT NULL OR {PARSED}.whole IS NULL"
        broken = f"{text} IS NOT NULL AND ({broken})"
        said = literal(f"Column {column!r} is not JSON of the type {self.ddl}: ")
        fails = self.on_error == "fail" and not self.corrupt
        instead = f"raise_error(concat({said}, left({text}, 200)))" if fails else "NULL"
        results = {self.into or column: f"CASE WHEN {broken} THEN {instead} ELSE {PARSED}.value END"}
        return results | ({self.corrupt: f"CASE WHEN {broken} THEN {text} END"} if self.corrupt else {})

    def _parsed(self, text: str) -> Column:
        # Inside an object, so that what follows the JSON is seen and arrays can be found broken too.
        from pyspark.sql.functions import expr, from_json

        wrapped = expr(f"""concat('{{"value":', {text}, ',"whole":true}}')""")
        own = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "corrupt"}
        options = {name: spelled(value) for name, value in self.options.items()}
        return from_json(wrapped, self._wrapper(), options | own)

    def _wrapper(self) -> StructType:
        from pyspark.sql.types import BooleanType, DataType, StringType, StructType

        value = DataType.fromDDL(self.ddl)
        return StructType().add("value", value).add("whole", BooleanType()).add("corrupt", StringType())
