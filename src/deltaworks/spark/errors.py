"""Spark's exceptions, said in our words."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deltaworks.errors import AwayError, ConfigError, DeltaworksError, RunError, SetupError
from deltaworks.lake.additions import CHANGED, FOLLOW_CHANGES
from deltaworks.lake.storage import advice
from deltaworks.spark.conflicts import WriteConflictError, conflict_of
from deltaworks.spark.kafka import told as kafka
from deltaworks.spark.unread import unread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class ColumnNotFoundError(ConfigError):
    """An expression or an option names a column that is not there."""

    def __init__(self, name: str, columns: Iterable[str], *, where: str = "") -> None:
        place = f"{where}: " if where else ""
        super().__init__(f"{place}There is no column {name!r}.", hint=f"Columns there: {', '.join(columns)}.")
        self.column = name


class SourceAlteredError(RunError):
    """A table got other columns while it was followed; a fresh look at it may go on with them."""

    transient = True


@contextmanager
def explained(where: str, columns: Iterable[str] = ()) -> Iterator[None]:
    """Turn whatever Spark raises inside into one of our errors, saying where it happened."""
    try:
        yield
    except DeltaworksError as error:
        raise _placed(error, where) from error.__cause__
    except Exception as error:
        found = translated(error, where, tuple(columns))
        if found is None:
            raise
        raise found from error


def translated(error: Exception, where: str, columns: tuple[str, ...] = ()) -> DeltaworksError | None:
    """Our error for one of Spark's; none when it is not Spark's."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    if not isinstance(error, PySparkException | Py4JError):
        return None
    story = _Story.of(error)
    if (known := _conflict(story, where) or unread(story.messages, where)) is not None:
        return known
    if story.condition.startswith("UNRESOLVED_COLUMN") and columns:
        return ColumnNotFoundError(story.parameter("objectName"), columns, where=where)
    if story.condition in _TOLD:
        kind, what, hint = _TOLD[story.condition]
        return kind(f"{where}: {what(story)}", hint=hint)
    return _of_storage(story, where) or kafka.told(story.messages, where) or _of_spark(story, where)


def _of_storage(story: _Story, where: str) -> DeltaworksError | None:
    found = re.match(r"(.*?)\s*\(Service: S3, Status Code: (\d)", story.line)
    if found is None:
        return None
    refused = found[2] == "4"  # what S3 refuses is ours to mend; what it cannot do is not
    return (SetupError if refused else AwayError)(f"{where}: S3 said: {found[1]}", hint=advice(found[1]))


def _of_spark(story: _Story, where: str) -> DeltaworksError:
    if story.is_analysis:
        return ConfigError(f"{where}: {story.line}", hint="Change it in the pipeline file; nothing was written.")
    return RunError(f"{where}: {story.line}", hint="The table is as it was; mend the cause and run again.")


def _conflict(story: _Story, where: str) -> WriteConflictError | None:
    conflict = conflict_of(story.kind, story.condition)
    if conflict is None:
        return None
    said = f"{where}: another writer was faster: {story.line}"
    return WriteConflictError(said, hint="Run it again.", conflict=conflict)


class _Story:
    """What a Spark exception says, however it was wrapped."""

    def __init__(self, messages: tuple[str, ...], kind: str, condition: str, parameters: dict[str, str]) -> None:
        self.messages = messages  # the cause last
        self.kind = kind
        self.condition = condition or _condition(messages[-1])
        self._parameters = parameters

    @classmethod
    def of(cls, error: Exception) -> _Story:
        from pyspark.errors import PySparkException

        # Spark cannot word some of Delta's errors and raises another while trying: the first one tells more.
        if "Cannot find main error class" in str(error) and isinstance(error.__context__, Exception):
            return cls.of(error.__context__)
        if isinstance(error, PySparkException):
            parameters = error.getMessageParameters() or {}
            messages = _messages(getattr(error, "_origin", None))
            if len(messages) < 2:  # without a cause PySpark words it better
                messages = (str(error),)
            condition = error.getCondition() or ""
            # That a stream failed is no condition of ours: why it did is.
            return cls(
                messages, type(error).__name__, "" if condition == "STREAM_FAILED" else condition, dict(parameters)
            )
        java = getattr(error, "java_exception", None)
        if java is None:
            return cls((str(error),), type(error).__name__, "", {})
        return cls(_messages(java), java.getClass().getName(), "", {})

    @property
    def message(self) -> str:
        """What the innermost cause says: "Job aborted" says nothing."""
        return self.messages[-1]

    @property
    def line(self) -> str:
        """The first line, without Spark's labels."""
        text = self.message.strip().splitlines()[0] if self.message.strip() else self.kind
        text = re.sub(r"^\[[A-Z_.]+\]\s*", "", text)
        return re.sub(r"\s*SQLSTATE: \w+.*$", "", text)

    @property
    def version(self) -> str:
        """The version of a table that it speaks of, where it does."""
        found = re.search(r"(?:at|in) version (\d+)", self.message)
        return f", in version {found[1]}" if found else ""

    @property
    def is_analysis(self) -> bool:
        return self.kind.rpartition(".")[2] in {"AnalysisException", "ParseException", "DeltaAnalysisException"}

    def parameter(self, name: str) -> str:
        return self._parameters.get(name, "?").replace("`", "")


_TOLD: dict[str, tuple[type[DeltaworksError], Callable[[_Story], str], str]] = {
    "DELTA_FAILED_TO_MERGE_FIELDS": (
        ConfigError,
        lambda story: f"Column {story.parameter('updateField')!r}: {story.line}",
        "Cast it with a cast transform; nothing was written.",
    ),
    "DELTA_SOURCE_TABLE_IGNORE_CHANGES": (ConfigError, lambda story: f"{CHANGED}{story.version}", FOLLOW_CHANGES),
    "DELTA_SOURCE_IGNORE_DELETE": (ConfigError, lambda story: f"{CHANGED}{story.version}", FOLLOW_CHANGES),
    **dict.fromkeys(
        ("DELTA_SCHEMA_CHANGED_WITH_VERSION", "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"),
        (
            SourceAlteredError,
            lambda story: f"the columns of the table changed while it was read{story.version}",
            "Run it again: it goes on with the new columns. Where that fails too, they do not go with the old ones: "
            "`deltaworks run FILE --full-refresh`.",
        ),
    ),
    "DELTA_REPLACE_WHERE_MISMATCH": (
        RunError,
        lambda story: f"a row is outside replaceWhere: {story.parameter('replaceWhere')}",
        "Nothing was written. Filter the rows, or change replaceWhere.",
    ),
}


def _condition(message: str) -> str:
    found = re.match(r"\[([A-Z_.]+)\]", message.strip())
    return found[1] if found else ""


def _messages(java: Any) -> tuple[str, ...]:
    found = []
    while java is not None:
        found.append(str(java.getMessage() or java.toString()))
        java = java.getCause()
    return tuple(found)


_PLACED = re.compile(r"(extract|inputs|transform|expect|load)\b\S*( \w+)?: ")


def _placed(error: DeltaworksError, where: str) -> DeltaworksError:
    message = str(error)
    if not message.startswith(where) and not _PLACED.match(message):
        error.args = (f"{where}: {message}", *error.args[1:])
    return error
