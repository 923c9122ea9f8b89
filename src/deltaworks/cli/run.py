"""`deltaworks run`: run pipelines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltaworks.cli.options import Conf, Env, Files, Json, Master, Quiet, Set, Verbose
from deltaworks.cli.output import log_to_stderr, print_error, print_json, to_stderr
from deltaworks.errors import ConfigError, DeltaworksError, StoppedError

if TYPE_CHECKING:
    from pathlib import Path

    from deltaworks.cli.progress import Progress
    from deltaworks.pipeline.asked import Asked, Range
    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.pipeline.following import Pace
    from deltaworks.pipeline.workspace import Workspace

Key = Annotated[
    str | None,
    typer.Option("--key", help="Land this load once: a second run with the same key does nothing.", show_default=False),
]
Again = Annotated[bool, typer.Option("--again", help="With --key or --from: land it once more, on purpose.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show rows after each step; write nothing.")]
Limit = Annotated[
    int | None,
    typer.Option("--limit", min=1, help="With --dry-run: how many rows to show, 10 if not given.", show_default=False),
]
Follow = Annotated[
    bool, typer.Option("--follow", help="Of an incremental pipeline: go on with what comes, until SIGTERM or Ctrl-C.")
]
Every = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="TIME",
        help="With --follow: from one batch to the next, as 10s or 5m. Without it a stream goes on at once, "
        "and other sources are looked at every 10s.",
        show_default=False,
    ),
]
FullRefresh = Annotated[
    bool,
    typer.Option("--full-refresh", help="Of an incremental pipeline: load all there is, in the place of all that is."),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from", help="Of an incremental pipeline: load a range once, and move no position.", show_default=False
    ),
]
To = Annotated[str | None, typer.Option("--to", help="With --from: where the range ends.", show_default=False)]
KeepGoing = Annotated[bool, typer.Option("--keep-going", help="With several files: go on after a failure.")]


def run(
    files: Files,
    key: Key = None,
    again: Again = False,
    follow: Follow = False,
    every: Every = None,
    full_refresh: FullRefresh = False,
    start: From = None,
    end: To = None,
    dry_run: DryRun = False,
    limit: Limit = None,
    settings: Set = [],
    conf: Conf = [],
    master: Master = None,
    environment: Env = None,
    keep_going: KeepGoing = False,
    as_json: Json = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Run pipelines; one that reads what another writes comes after it."""
    from deltaworks.cli.edge import workspace
    from deltaworks.cli.here import require_one_project
    from deltaworks.cli.progress import Progress
    from deltaworks.pipeline.asked import Asked
    from deltaworks.pipeline.order import ordered
    from deltaworks.pipeline.overrides import parsed

    _check_together(dry_run=dry_run, limit=limit, key=key, again=again)
    pace = _pace(follow=follow, every=every, refresh=full_refresh, files=len(files))
    asked = Asked(key=key, again=again, pace=pace, between=_range(start, end))
    _check_dry(asked, dry_run=dry_run)
    if verbose:
        log_to_stderr()
    with Progress(quiet=quiet or as_json or verbose) as progress:
        require_one_project(files, environment)
        space = workspace(files[0], master=master, conf=conf, environment=environment, progress=progress)
        configs = [space.read(file, parsed(settings)) for file in files]
        order = ordered(configs)
        pipelines = [(files[at], configs[at]) for at in order]
        one = _showing(space, limit) if dry_run else _running(space, asked)
        if dry_run and not quiet:
            _say_what_is_not_seen([config for _, config in pipelines])
        each = _Each(space.parts, one, progress, keep_going=keep_going, as_json=as_json)
        each.go(pipelines)
    each.finish()


def _check_together(*, dry_run: bool, limit: int | None, key: str | None, again: bool) -> None:
    if limit is not None and not dry_run:
        raise ConfigError(
            "--limit is for --dry-run: a run loads all rows or none.",
            hint="Add --dry-run to see rows; to load fewer, give the pipeline a filter.",
        )
    if dry_run and (key is not None or again):
        raise ConfigError(
            f"--dry-run lands nothing, so {'--key' if key is not None else '--again'} has no meaning.",
            hint="Leave one of them out.",
        )


def _pace(*, follow: bool, every: str | None, refresh: bool, files: int) -> Pace:
    from deltaworks.lake.durations import duration
    from deltaworks.pipeline.following import Pace

    if every is not None and not follow:
        raise ConfigError("--every is for --follow.", hint="Add --follow, or leave it out.")
    if follow and files > 1:
        raise ConfigError("--follow takes one file: it goes on until it is stopped.", hint="Start one for each file.")
    return Pace(follow=follow, every=duration(every) if every else None, refresh=refresh)


def _range(start: str | None, end: str | None) -> Range | None:
    from deltaworks.pipeline.asked import Range

    if start is None and end is None:
        return None
    if start is None or end is None:
        raise ConfigError("A range needs --from and --to.", hint="Give both.")
    return Range(start, end)


def _check_dry(asked: Asked, *, dry_run: bool) -> None:
    given = {"--follow": asked.pace.follow, "--full-refresh": asked.pace.refresh, "--from": asked.between is not None}
    name = next((name for name, said in given.items() if said), None)
    if dry_run and name:
        raise ConfigError(
            f"--dry-run shows what a plain run would read, so {name} has no meaning.", hint="Leave one out."
        )
    if asked.between is not None and (asked.pace.follow or asked.pace.refresh):
        raise ConfigError("A range is loaded once, and nothing else.", hint="Leave out --follow and --full-refresh.")


_Print = Callable[[], None]
_One = Callable[["Path", "PipelineConfig"], tuple[dict[str, Any], _Print]]


def _running(space: Workspace, asked: Asked) -> _One:
    """Run one pipeline; what it did, and how to print that."""
    from deltaworks.cli.result import print_result
    from deltaworks.cli.stopping import stoppable

    def one(file: Path, config: PipelineConfig) -> tuple[dict[str, Any], _Print]:
        with stoppable(asked.pace):
            result = space.run(config, asked, file=str(file))
        return result.to_dict(), lambda: print_result(result, config.load.place)

    return one


def _showing(space: Workspace, limit: int | None) -> _One:
    """Look at the rows of one pipeline; what was seen, and how to print that."""
    from deltaworks.cli.preview import print_preview
    from deltaworks.pipeline.preview import DEFAULT_LIMIT

    def one(file: Path, config: PipelineConfig) -> tuple[dict[str, Any], _Print]:
        seen = space.preview(config, limit or DEFAULT_LIMIT)
        return seen.to_dict(), lambda: print_preview(seen)

    return one


def _say_what_is_not_seen(configs: list[PipelineConfig]) -> None:
    from deltaworks.pipeline.order import reads

    for at, reader in enumerate(configs):
        for writer in configs[:at]:
            if reads(reader, writer):
                said = f"{reader.pipeline_id} reads what {writer.pipeline_id} would write: it sees what is there now."
                to_stderr().print(said, soft_wrap=True, markup=False)


@dataclass
class _Each:
    """Several pipelines, one after the other."""

    parts: Callable[[PipelineConfig], tuple[PipelineConfig, ...]]
    one: _One
    progress: Progress
    keep_going: bool
    as_json: bool
    shown: list[dict[str, Any]] = field(default_factory=list)
    failed: list[DeltaworksError] = field(default_factory=list)

    def go(self, pipelines: list[tuple[Path, PipelineConfig]]) -> None:
        all(self._all_of(file, config) for file, config in pipelines)  # ends at the first that may not be followed

    def _all_of(self, file: Path, config: PipelineConfig) -> bool:
        """Do all parts of a file; whether the next file may follow."""
        try:
            parts = self.parts(config)
        except DeltaworksError as error:
            self._fail(config, error)
            return self._may_go_on()
        return all(self._one_of(file, part) for part in parts)

    def _one_of(self, file: Path, config: PipelineConfig) -> bool:
        """Do one part; whether the next may follow."""
        try:
            told, show = self.one(file, config)
        except DeltaworksError as error:
            self._fail(config, error)
            return self._may_go_on()
        self.shown.append(told)
        if not self.as_json:
            self.progress.pause()
            show()
        return True

    def _may_go_on(self) -> bool:
        return self.keep_going and not isinstance(self.failed[-1], StoppedError)

    def _fail(self, config: PipelineConfig, error: DeltaworksError) -> None:
        self.failed.append(error)
        told = {
            "pipeline_id": config.pipeline_id,
            "part": config.part,
            "success": False,
            "error": str(error),
            "hint": error.hint,
        }
        self.shown.append({**told, "record": error.record})
        self.progress.pause()
        print_error(error)

    def finish(self) -> None:
        if self.as_json:
            print_json(self.shown)
        if self.failed:
            raise typer.Exit(self.failed[0].exit_code)
