"""A function of the user's own."""

from __future__ import annotations

import inspect
from contextlib import suppress
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PrivateAttr, ValidationInfo, model_validator

from deltaworks.errors import ConfigError, DeltaworksError, RunError
from deltaworks.lake.model import FromText, problem
from deltaworks.spark.callables import imported
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame


def _spelled(name: str) -> str:
    parts = name.replace(":", ".", 1).split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise problem(f"{name!r} is not the name of a function", "Write module:function.")
    return name


class Python(Transform):
    """Call a function with the rows and take the rows it gives back: DataFrame in, DataFrame out."""

    type: Literal["python"]
    """`python`."""
    function: Annotated[str, AfterValidator(_spelled)]
    """`module:function`, of a module in the folder of the pipeline file, or of an installed package."""
    arguments: Annotated[dict[str, Any], FromText()] = Field(default_factory=dict)
    """What it is called with besides the rows, by name."""

    _folder: Path = PrivateAttr(default_factory=Path.cwd)

    @model_validator(mode="after")
    def _placed(self, info: ValidationInfo) -> Self:
        self._folder = (info.context or {}).get("folder", self._folder)
        return self

    @property
    def keeps_order(self) -> bool:
        """A function may do anything with rows."""
        return False

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """What the function makes of the rows."""
        from pyspark.sql import DataFrame

        with imported(self.function, self._folder) as function:
            self._check_arguments(function, rows)
            found = self._called(function, rows)
        if not isinstance(found, DataFrame):
            hint = "Return the rows: a DataFrame."
            raise ConfigError(f"{self.function} returned a {type(found).__name__}, not a DataFrame.", hint=hint)
        return found

    def describe(self) -> str:
        """The call."""
        return (
            f"{self.function}({', '.join(['rows', *(f'{name}={value!r}' for name, value in self.arguments.items())])})"
        )

    def _check_arguments(self, function: Callable[..., Any], rows: DataFrame) -> None:
        with suppress(ValueError):  # not every function can say what it takes
            signature = inspect.signature(function)
            try:
                signature.bind(rows, **self.arguments)
            except TypeError as error:
                hint = f"It takes {signature}; the first is the rows, the others are `arguments`."
                raise ConfigError(f"{self.function} cannot be called like this: {error}.", hint=hint) from error

    def _called(self, function: Callable[..., Any], rows: DataFrame) -> Any:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            return function(rows, **self.arguments)
        except (DeltaworksError, PySparkException, Py4JError):
            raise
        except Exception as error:
            message = f"{self.function} failed in {self._place(error)}: {type(error).__name__}: {error}"
            raise RunError(message, hint="Mend the function; nothing was written.") from error

    def _place(self, error: Exception) -> str:
        frames = extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).is_relative_to(self._folder)]
        frame = (own or frames)[-1]
        return f"{Path(frame.filename).name}, line {frame.lineno}"
