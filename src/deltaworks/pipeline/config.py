"""The pipeline file, checked."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NoReturn, Self

from pydantic import AfterValidator, Field, PrivateAttr, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from deltaworks.errors import ConfigError, did_you_mean
from deltaworks.lake.expectation import Expectation, OnFailure
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import FileModel, Whole, problem
from deltaworks.pipeline.checking import checked
from deltaworks.pipeline.spark import SparkConfig
from deltaworks.pipeline.variables import filled
from deltaworks.spark.errors import explained
from deltaworks.spark.grants import distinct
from deltaworks.spark.sinks import AnySink, Sink
from deltaworks.spark.sources import AnySource, Source
from deltaworks.spark.transforms import AnyTransform

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from deltaworks.pipeline.document import Document
    from deltaworks.spark.connector import Connector
    from deltaworks.spark.surroundings import Surroundings
    from deltaworks.vault.storage import Access


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
    spark: SparkConfig = Field(default_factory=SparkConfig)
    """Where Spark runs, and how."""

    @model_validator(mode="after")
    def _sink_can_do_it(self) -> Self:
        _check_mode(self.load, self.write_mode)
        return self

    _part: str | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _each_table_has_its_place(self) -> Self:
        several = next((f"inputs.{name}" for name, each in self.inputs.items() if each.several), None)
        if several:
            _raise_at(("inputs",), problem(f"{several} names several tables", "Name one table, or a query."), several)
        if self.extract.several:
            with _at(("load",), None):
                self.load.check_several()
        return self

    @model_validator(mode="after")
    def _deletes_what_is_gone(self) -> Self:
        if self.extract.tells_changes:
            with _at(("load",), self.write_mode):
                self.load.check_changes(self.write_mode)
        return self

    @model_validator(mode="after")
    def _goes_on_by_batches(self) -> Self:
        if self.extract.incremental is None:
            return self
        with _at(("load",), self.write_mode):
            self.load.check_incremental(self.write_mode)
        with _at(("extract", "incremental"), self.write_mode):
            self.extract.check_incremental(self.load, self.write_mode)
        for number, step in enumerate(self.transform):
            if step.wants_all and not step.per_batch:
                said = f"{step.type} would see the rows of one batch only"
                hint = "Write perBatch: true beside its type, if that is meant; or leave out incremental."
                _raise_at(("transform", number), problem(said, hint), step.type)
        return self

    @model_validator(mode="after")
    def _there_is_a_place_aside(self) -> Self:
        if self.sets_aside:
            with _at(("load",), self.write_mode):
                self.load.check_aside()
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
            if source.sets_aside:
                error = problem("An input cannot set records aside", "Leave it out; only `extract` can do that.")
                _raise_at(("inputs", name), error, name)
        return self

    @property
    def sets_aside(self) -> bool:
        """Whether rows may go to the table beside the target."""
        return self.extract.sets_aside or any(rule.on_failure is OnFailure.SET_ASIDE for rule in self.expect)

    @property
    def part(self) -> str | None:
        """Which of several tables this is for; none where the file names one."""
        return self._part

    def parts(self, around: Surroundings) -> tuple[Self, ...]:
        """One pipeline for each table that the file names; it itself, where it names one."""
        if not self.extract.several:
            return (self,)
        named = [(own_name(name), name, source) for name, source in self.extract.located(around).parts()]
        _refuse_same(own for own, _, _ in named)
        return tuple(self._of_part(name, own, source) for own, name, source in named)

    def _of_part(self, name: str, own: str, source: Source) -> Self:
        found = self.model_copy(update={"extract": source, "load": self.load.for_table(own)})
        found._part = name
        return found

    def located(self, around: Surroundings) -> Self:
        """This pipeline with the path of every table that it names, and the way to all storage."""
        with explained("inputs"):
            inputs = {name: source.located(around) for name, source in self.inputs.items()}
        with explained("load"):
            load = self.load.located(around)
        with explained("extract"):
            extract = self.extract.located(around).for_pipeline(self.pipeline_id, load)
            return self.model_copy(update={"inputs": inputs, "extract": extract, "load": load}).knowing()

    def knowing(self) -> Self:
        """This pipeline, whose source knows where its rows go as that is by now, where they go there unchanged."""
        return self if self.transform else self.model_copy(update={"extract": self.extract.toward(self.load)})

    @property
    def ends(self) -> tuple[Connector, ...]:
        """All sources and the sink."""
        return (self.extract, *self.inputs.values(), self.load)

    def jar_groups(self) -> frozenset[str]:
        """The groups of jars that Spark needs for it, beside Delta's."""
        return frozenset[str]().union(*(end.jar_groups for end in self.ends))

    def accesses(self) -> tuple[Access, ...]:
        """The ways to all storage that it reads and writes, one for each bucket."""
        return distinct(end.access for end in self.ends)

    def names_tables(self) -> bool:
        """Whether it needs a catalog."""
        return any(end.needs_catalog for end in self.ends)

    def credential_ids(self) -> frozenset[str]:
        """The credentials this pipeline names."""
        return frozenset(end.credential_id for end in self.ends if end.credential_id)


def own_name(table: str) -> str:
    """The name of a table as a part of a path or of another name: what it may not hold becomes `_`."""
    return re.sub(r"^\.+|[^\w.-]", "_", table)


def _refuse_same(names: Iterable[str]) -> None:
    if twice := [name for name, count in Counter(name.lower() for name in names).items() if count > 1]:
        raise ConfigError(
            f"Two tables would both go to {twice[0]!r}.",
            hint="Load one of them in a file of its own, with another name.",
        )


class ExtractPart(FileModel):
    """The `extract` part of a file on its own."""

    extract: AnySource

    @model_validator(mode="after")
    def _nothing_is_set_aside(self) -> Self:
        if self.extract.incremental is not None:
            error = problem("Rows alone have no place for a position", "Leave out incremental, or run a pipeline.")
            _raise_at(("extract", "incremental"), error, None)
        if self.extract.sets_aside:
            error = problem("Rows alone have no place aside", "Leave it out, or run a pipeline with a `load`.")
            _raise_at(("extract",), error, None)
        return self


class LoadPart(FileModel):
    """The `load` part of a file on its own, with how it is written."""

    load: AnySink
    write_mode: WriteMode

    @model_validator(mode="after")
    def _sink_can_do_it(self) -> Self:
        _check_mode(self.load, self.write_mode)
        return self


def _check_mode(sink: Sink, mode: WriteMode) -> None:
    with _at(("load",), mode):
        sink.check_mode(mode)


@contextmanager
def _at(place: tuple[str | int, ...], value: object) -> Iterator[None]:
    """Say of a problem where in the file it is."""
    try:
        yield
    except PydanticCustomError as error:
        _raise_at(place, error, value)


def _raise_at(place: tuple[str | int, ...], error: PydanticCustomError, value: object) -> NoReturn:
    details = InitErrorDetails(type=error, loc=place, input=value)
    raise ValidationError.from_exception_data(str(place[0]), [details]) from None


def config_of(document: Document, variables: Mapping[str, str]) -> PipelineConfig:
    """Check a pipeline that was read already."""
    return checked(PipelineConfig, filled(document, variables))
