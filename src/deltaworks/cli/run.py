"""`deltaworks run`: run pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deltaworks.cli.options import Conf, Env, Files, Json, Master, Quiet, Set, Verbose
from deltaworks.cli.output import log_to_stderr, print_error, print_json, print_result
from deltaworks.errors import DeltaworksError, StoppedError

if TYPE_CHECKING:
    from pathlib import Path

    from deltaworks.cli.progress import Progress
    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.pipeline.workspace import Workspace

Key = Annotated[
    str | None,
    typer.Option("--key", help="Land this load once: a second run with the same key does nothing.", show_default=False),
]
Again = Annotated[bool, typer.Option("--again", help="With --key: land it once more, on purpose.")]
KeepGoing = Annotated[bool, typer.Option("--keep-going", help="With several files: go on after a failure.")]


def run(
    files: Files,
    key: Key = None,
    again: Again = False,
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
    from deltaworks.pipeline.order import ordered
    from deltaworks.pipeline.overrides import parsed

    if verbose:
        log_to_stderr()
    with Progress(quiet=quiet or as_json or verbose) as progress:
        require_one_project(files, environment)
        space = workspace(files[0], master=master, conf=conf, environment=environment, progress=progress)
        configs = [space.read(file, parsed(settings)) for file in files]
        order = ordered(configs)
        runs = _Runs(space, progress, key=key, again=again, keep_going=keep_going, as_json=as_json)
        runs.go([(files[at], configs[at]) for at in order])
    runs.finish()


class _Runs:
    """Several runs, one after the other."""

    def __init__(
        self, space: Workspace, progress: Progress, *, key: str | None, again: bool, keep_going: bool, as_json: bool
    ) -> None:
        self._space, self._progress = space, progress
        self._key, self._again, self._keep_going, self._as_json = key, again, keep_going, as_json
        self._shown: list[dict[str, object]] = []
        self._failed: list[DeltaworksError] = []

    def go(self, pipelines: list[tuple[Path, PipelineConfig]]) -> None:
        for file, config in pipelines:
            try:
                result = self._space.run(config, file=str(file), key=self._key, again=self._again)
            except DeltaworksError as error:
                self._fail(config, error)
                if isinstance(error, StoppedError) or not self._keep_going:
                    return
            else:
                self._shown.append(result.to_dict())
                if not self._as_json:
                    self._progress.pause()
                    print_result(result)

    def _fail(self, config: PipelineConfig, error: DeltaworksError) -> None:
        self._failed.append(error)
        told = {"pipeline_id": config.pipeline_id, "success": False, "error": str(error), "hint": error.hint}
        self._shown.append({**told, "record": error.record})
        self._progress.pause()
        print_error(error)

    def finish(self) -> None:
        if self._as_json:
            print_json(self._shown)
        if self._failed:
            raise typer.Exit(self._failed[0].exit_code)
