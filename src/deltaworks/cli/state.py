"""`deltaworks state`: where a pipeline stands, and moving it from there, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltaworks.cli.options import Env, File, Json, Set
from deltaworks.cli.output import named, print_facts, print_json, to_stdout
from deltaworks.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from deltaworks.lake.positions import Reached
    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.pipeline.state import Move, Stand, State
    from deltaworks.pipeline.workspace import Workspace

app = typer.Typer(help="See how far an incremental pipeline got, and move it from there.", no_args_is_help=True)

Why = Annotated[
    str | None, typer.Option("--why", help="The reason, which the commit keeps for those who ask.", show_default=False)
]
Yes = Annotated[bool, typer.Option("--yes", help="Do it; without this, only show what would be done.")]
Part = Annotated[
    str | None,
    typer.Option("--part", metavar="TABLE", help="Which table, where the file names several.", show_default=False),
]


@app.command("show")
def show(file: File, part: Part = None, settings: Set = [], environment: Env = None, as_json: Json = False) -> None:
    """Show where a pipeline stands, since when and by whom, and whether its next run can go on from there."""
    from deltaworks.pipeline.state import incremental, state_of, without_spark

    space, config = _read(file, settings, environment)
    with space.redactor(config).hiding():
        around = without_spark(space.around(config))
        states = [state_of(incremental(each, around)) for each in _chosen(config.parts(around), part)]
    if as_json:
        print_json([state.to_dict() for state in states] if config.extract.several else states[0].to_dict())
        return
    for number, state in enumerate(states):
        if number:
            to_stdout().print()
        print_facts(_facts(state))


@app.command("rewind")
def rewind(
    file: File,
    to_version: Annotated[int, typer.Option("--to-version", help="The version of the target.", show_default=False)],
    why: Why = None,
    yes: Yes = False,
    part: Part = None,
    settings: Set = [],
    environment: Env = None,
    as_json: Json = False,
) -> None:
    """Go on from where the rows ended that the target had at a version: what came later is loaded again."""
    from deltaworks.pipeline import state

    _Moving(file, part, settings, environment, yes=yes, as_json=as_json).go(
        lambda config: state.rewind(config, to_version, why)
    )


@app.command("set")
def set_position(
    file: File,
    position: Annotated[
        str,
        typer.Option(
            "--position",
            metavar="JSON",
            help="As `state show --json` spells it, or @ and the name of a file with that; null is the beginning.",
            show_default=False,
        ),
    ],
    why: Why = None,
    yes: Yes = False,
    part: Part = None,
    settings: Set = [],
    environment: Env = None,
    as_json: Json = False,
) -> None:
    """Go on from a position that you say: what lies before it is not read, what lies after it is."""
    from deltaworks.pipeline import state

    _Moving(file, part, settings, environment, yes=yes, as_json=as_json).go(
        lambda config: state.set_to(config, _written(position), why)
    )


@app.command("keep")
def keep(
    file: File,
    why: Why = None,
    yes: Yes = False,
    part: Part = None,
    settings: Set = [],
    environment: Env = None,
    as_json: Json = False,
) -> None:
    """Go on from the position, although rows before it were taken back or the table was made anew."""
    from deltaworks.pipeline import state

    _Moving(file, part, settings, environment, yes=yes, as_json=as_json).go(lambda config: state.keep(config, why))


@app.command("adopt")
def adopt(
    file: File,
    old: Annotated[str, typer.Argument(metavar="OLD_ID", help="The pipelineId it had before.", show_default=False)],
    why: Why = None,
    yes: Yes = False,
    part: Part = None,
    settings: Set = [],
    environment: Env = None,
    as_json: Json = False,
) -> None:
    """Go on from where the pipeline got under its old name, which is given up."""
    from deltaworks.pipeline import state

    _Moving(file, part, settings, environment, yes=yes, as_json=as_json).go(
        lambda config: state.adopt(config, old, why)
    )


class _Moving:
    """One position to be moved: shown, and done where that was asked for."""

    def __init__(
        self,
        file: Path,
        part: str | None,
        settings: Sequence[str],
        environment: str | None,
        *,
        yes: bool,
        as_json: bool,
    ) -> None:
        self._space, self._config = _read(file, settings, environment)
        self._part, self._yes, self._as_json = part, yes, as_json

    def go(self, decide: Callable[[PipelineConfig], Move]) -> None:
        with self._space.redactor(self._config).hiding():
            move = decide(self._one())
            done = self._done(move) if self._yes else None
        if self._as_json:
            print_json(move.to_dict(done))
        else:
            _show(move, done)

    def _one(self) -> PipelineConfig:
        from deltaworks.pipeline.state import incremental, without_spark

        around = without_spark(self._space.around(self._config))
        parts = _chosen(self._config.parts(around), self._part)
        if len(parts) > 1:
            names = ", ".join(sorted(each.part or "" for each in parts))
            raise ConfigError("The file names several tables.", hint=f"Say which with --part: {names}.")
        return incremental(parts[0], around)

    def _done(self, move: Move) -> Reached:
        from deltaworks.lake.folder import folder_at
        from deltaworks.lake.proofs import Proofs
        from deltaworks.pipeline.state import carry_out

        return carry_out(move, Proofs(folder_at(str(self._space.spark.cache))))


def _read(file: Path, settings: Sequence[str], environment: str | None) -> tuple[Workspace, PipelineConfig]:
    from deltaworks.cli.edge import workspace
    from deltaworks.pipeline.overrides import parsed

    space = workspace(file, environment=environment)
    return space, space.read(file, parsed(list(settings)))


def _chosen(parts: Sequence[PipelineConfig], part: str | None) -> list[PipelineConfig]:
    if part is None:
        return list(parts)
    found = [each for each in parts if each.part == part]
    if not found:
        names = [each.part for each in parts if each.part]
        raise ConfigError(f"The file names no table {part!r}.", hint=did_you_mean(part, names))
    return found


def _written(position: str) -> str:
    if not position.startswith("@"):
        return position
    try:
        return Path(position[1:]).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise ConfigError(f"The file {position[1:]} cannot be read: {error}.", hint="Check its name.") from error


def _facts(state: State) -> Iterator[tuple[str, object]]:
    yield "pipeline", " ".join(filter(None, (state.pipeline_id, state.part)))
    yield "target", state.target
    if state.stand is not None:
        yield from _stands(state.stand)
    elif state.problem is None:
        yield "position", "none: it has landed nothing there yet"
    if state.begins is not None:
        yield "first run", f"would begin with {state.begins}"
    yield "source ends", state.end if state.end_unknown is None else f"unknown: {state.end_unknown}"
    if state.problem is not None:
        yield "next run", f"would be refused: {state.problem}"
        yield "hint", state.problem.hint
    yield from named("moved", map(_moved, state.moves))


def _stands(stand: Stand) -> Iterator[tuple[str, object]]:
    found = stand.found
    yield "source", found.position.source
    yield "position", stand.told
    yield "batch", found.batch
    yield "since", _when(stand)
    yield "by", found.by
    if found.version is not None:
        yield "version", str(found.version)


def _when(stand: Stand) -> str | None:
    return stand.at and f"{stand.at[:19].replace('T', ' ')} UTC"


def _moved(stand: Stand) -> str:
    return f"{_when(stand)} to {stand.told} by {stand.found.by}: {stand.found.why}"


def _show(move: Move, done: Reached | None) -> None:
    adopts = [("gives up", move.commit.adopts)] if move.commit.adopts else []
    version = [] if done is None or done.version is None else [("version", str(done.version))]
    print_facts(
        [
            ("pipeline", " ".join(filter(None, (move.config.pipeline_id, move.config.part)))),
            ("target", move.config.load.place),
            *adopts,
            ("from", move.before),
            ("to", move.after),
            ("why", move.commit.why),
            *version,
        ]
    )
    to_stdout().print("The position was moved." if done else "Nothing was moved: add --yes to do it.", markup=False)
