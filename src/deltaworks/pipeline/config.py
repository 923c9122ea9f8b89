"""The pipeline file, checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, Self, TypeVar

from pydantic import AfterValidator, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from deltaworks.errors import ConfigError, did_you_mean
from deltaworks.lake.expectation import Expectation
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import FileModel, Whole, problem
from deltaworks.pipeline.variables import filled
from deltaworks.spark.sinks import AnySink, Sink
from deltaworks.spark.sources import AnySource, Source
from deltaworks.spark.transforms import AnyTransform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic_core import ErrorDetails
    from pyspark.sql import SparkSession

    from deltaworks.pipeline.document import Document, Key


def _one_name(text: str) -> str:
    if ".." in text or text == ".":
        raise problem(f"{text!r} is not a pipeline id", "Use letters, digits, dot, underscore and dash; no '..'.")
    return text


def _known_format(version: int) -> int:
    if version > 1:
        raise problem(f"{version} is newer than this deltaworks knows", "Upgrade deltaworks.")
    if version < 1:
        raise problem(f"{version} is no version of this format", "Write 1, or leave it out.")
    return version


def _no_keyword(name: str) -> str:
    if name.lower() == "input":
        raise problem("`input` is the name of the rows from `extract`", "Give the input another name.")
    return name


InputName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$"), AfterValidator(_no_keyword)]
PipelineId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,128}$"), AfterValidator(_one_name)]


class SparkConfig(FileModel):
    """Where Spark runs, and how."""

    master: str | None = None
    """`local[*]`, `spark://…`, `yarn`, `k8s://…`."""
    conf: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Any Spark conf, but those that keep loads exactly-once."""
    jars: Literal["managed", "provided"] | None = None
    """`managed`: deltaworks fetches them; `provided`: the platform has them."""


class PipelineConfig(FileModel):
    """One pipeline file, checked. These field names are a public format."""

    format_version: Annotated[Whole, AfterValidator(_known_format)] = 1
    """The version of this format."""
    pipeline_id: PipelineId
    """The pipeline's name: letters, digits, `.`, `_` and `-`."""
    inputs: dict[InputName, AnySource] = Field(default_factory=dict)
    """Other rows to read, each of the shape of `extract`, by the name that `join`, `union` and `sql` use."""
    extract: AnySource
    """Where the rows come from."""
    transform: tuple[AnyTransform, ...] = ()
    """What is done to them, in order."""
    expect: tuple[Expectation, ...] = ()
    """Rules every row must keep."""
    load: AnySink
    """Where they go."""
    write_mode: WriteMode
    """How they meet the rows already there."""
    spark: SparkConfig = SparkConfig()
    """Where Spark runs, and how."""

    @model_validator(mode="after")
    def _sink_can_do_it(self) -> Self:
        _check_mode(self.load, self.write_mode)
        return self

    @model_validator(mode="after")
    def _inputs_are_there(self) -> Self:
        for number, step in enumerate(self.transform):
            unknown = next((name for name in step.uses if name not in self.inputs), None)
            if unknown is not None:
                error = problem(f"There is no input {unknown!r}", did_you_mean(unknown, self.inputs))
                _raise_at(("transform", number), error, unknown)
        names = [rule.name for rule in self.expect]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            _raise_at(("expect",), problem(f"Two rules are called {twice!r}", "Give each a name of its own."), twice)
        if self.extract.cache:
            _raise_at(("extract", "cache"), problem("`cache` is for inputs", "Leave it out."), True)
        for name, source in self.inputs.items():
            if source.incremental is not None:
                error = problem("An input is read whole", "Leave out `incremental`; only `extract` can have it.")
                _raise_at(("inputs", name, "incremental"), error, name)
        return self

    def located(self, session: Callable[[], SparkSession]) -> Self:
        """This pipeline with the path of every table that it names."""
        found = {
            "inputs": {name: source.located(session) for name, source in self.inputs.items()},
            "extract": self.extract.located(session),
            "load": self.load.located(session),
        }
        return self.model_copy(update=found)

    def names_tables(self) -> bool:
        """Whether it needs a catalog."""
        return any(getattr(end, "table", None) for end in self._ends)

    def credential_ids(self) -> frozenset[str]:
        """The credentials this pipeline names."""
        return frozenset(end.credential_id for end in self._ends if end.credential_id)

    def jar_groups(self) -> frozenset[str]:
        """The groups of jars that its ends need beyond those of Delta."""
        return frozenset[str]().union(*(end.jar_groups for end in self._ends))

    @property
    def _ends(self) -> tuple[Source | Sink, ...]:
        return (self.extract, *self.inputs.values(), self.load)


class ExtractPart(FileModel):
    """The `extract` part of a file on its own."""

    extract: AnySource


class LoadPart(FileModel):
    """The `load` part of a file on its own, with how it is written."""

    load: AnySink
    write_mode: WriteMode

    @model_validator(mode="after")
    def _sink_can_do_it(self) -> Self:
        _check_mode(self.load, self.write_mode)
        return self


def _check_mode(sink: Sink, mode: WriteMode) -> None:
    try:
        sink.check_mode(mode)
    except PydanticCustomError as error:
        _raise_at(("load",), error, mode)


def _raise_at(place: tuple[str | int, ...], error: PydanticCustomError, value: object) -> NoReturn:
    details = InitErrorDetails(type=error, loc=place, input=value)
    raise ValidationError.from_exception_data(str(place[0]), [details]) from None


class InvalidFileError(ConfigError):
    """A file that was read but says something it must not; `problems` lists all that was found."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        (message, hint), *more = problems
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)
        if more:
            self.hint = f"{hint} ({len(more)} more: deltaworks validate lists them.)"


def config_of(document: Document, variables: Mapping[str, str]) -> PipelineConfig:
    """Check a pipeline that was read already."""
    return checked(PipelineConfig, filled(document, variables))


Model = TypeVar("Model", bound=FileModel)


def checked(model: type[Model], document: Document) -> Model:
    """Check a document against a model; relative paths start at the document's own folder."""
    folder = document.path.parent.absolute() if document.path else Path.cwd()
    if not isinstance(document.value, dict):
        raise InvalidFileError([(f"{document.where(())}: this holds no keys.", "Write `key: value` lines.")])
    try:
        return model.model_validate(document.value, context={"folder": folder})
    except ValidationError as error:
        raise InvalidFileError([_told(document, found) for found in _causes(error.errors())]) from error


def _causes(found: list[ErrorDetails]) -> list[ErrorDetails]:
    """Leave out what only follows from another error: a list whose one item is wrong is not also too short."""
    places = [each["loc"] for each in found]
    return [each for each in found if not any(_inside(place, each["loc"]) for place in places)]


def _inside(place: tuple[int | str, ...], outer: tuple[int | str, ...]) -> bool:
    return len(place) > len(outer) and place[: len(outer)] == outer


def _told(document: Document, found: ErrorDetails) -> tuple[str, str]:
    key = _key_in_file(document.value, found["loc"])
    where = document.where((*key, _tag_key(found["ctx"])) if found["type"].startswith("union_tag") else key)
    dotted = ".".join(str(part) for part in key) or "the file"
    message, hint = _words(found, dotted)
    return f"{where}: {message}" if where else message, hint


def _words(found: ErrorDetails, dotted: str) -> tuple[str, str]:
    context = found.get("ctx", {})
    match found["type"]:
        case "problem":
            return _problem_words(context, dotted)
        case "missing":
            return f"{dotted} is missing.", f"Add {dotted.rpartition('.')[2]}."
        case "union_tag_invalid" | "union_tag_not_found":
            return _tag_words(context, dotted)
        case "enum" | "literal_error":
            return f"{dotted}: {found['input']!r} is not known.", f"Write {context['expected']}."
        case "string_pattern_mismatch":
            return f"{dotted}: {found['input']!r} is not a name.", "Use up to 128 letters, digits, '.', '_' or '-'."
    said, hint = _KINDS.get(found["type"], (found["msg"], "Change the value there."))
    return f"{dotted}: {said}.", hint


_KEYS = ("this must hold keys and values", "Write `key: value` lines below it.")
_KINDS = {
    "tuple_type": ("this must be a list", "Write [a, b], or one `- item` a line."),
    "dict_type": _KEYS,
    "model_type": _KEYS,
    "model_attributes_type": _KEYS,
    "string_type": ("this must be text", "Write text, in quotes if it looks like something else."),
}


def _problem_words(context: dict[str, Any], dotted: str) -> tuple[str, str]:
    message, hint = str(context["message"]), str(context["hint"])
    if not message.startswith("Unknown key"):
        return f"{dotted}: {message}.", hint
    parent = dotted.rpartition(".")[0]
    return f"{message} in {parent}." if parent else f"{message}.", hint


def _tag_key(context: dict[str, Any]) -> str:
    # Both spellings of the key are given, the file's last.
    return str(context["discriminator"]).rpartition(" ")[2].strip("'")


def _tag_words(context: dict[str, Any], dotted: str) -> tuple[str, str]:
    key = _tag_key(context)
    if "tag" not in context:
        return f"{dotted}.{key} is missing.", f"Add {key}."
    known = [tag.strip("' ") for tag in str(context["expected_tags"]).split(",")]
    return f"{dotted}: {key} {context['tag']!r} is not known.", did_you_mean(str(context["tag"]), known)


def _key_in_file(value: Any, loc: tuple[int | str, ...]) -> Key:
    """Where an error's place is in the file, which nests what the models hold flat and does not name union tags."""
    key: list[str | int] = []
    for part in loc:
        wrapper = next((name for name in _WRAPPERS if isinstance(value, dict) and _has(value.get(name), part)), None)
        if isinstance(value, dict) and part not in value and wrapper:
            key.append(wrapper)
            value = value[wrapper]
        elif isinstance(value, dict) and part not in value and part in _tags(value):
            continue
        key.append(part)
        value = _below(value, part)
    return tuple(key)


def _has(inner: Any, part: int | str) -> bool:
    return isinstance(inner, dict) and part in inner


_WRAPPERS = ("connectionParams", "parameters")


def _tags(value: dict[str, Any]) -> set[Any]:
    return {value.get(name) for name in ("sourceType", "sinkType", "type") if isinstance(value.get(name), str)}


def _below(value: Any, part: int | str) -> Any:
    if isinstance(value, dict):
        return value.get(str(part))
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None
