"""`deltaworks demo`: pipelines on a million orders."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltaworks.cli.output import print_facts, program, text, to_stdout
from deltaworks.cli.result import print_result

if TYPE_CHECKING:
    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.runs.result import RunResult

KEY = "demo"

Folder = Annotated[Path, typer.Option("--dir", metavar="DIR", help="The folder to make and work in.")]


def demo(folder: Folder = Path("deltaworks-demo")) -> None:
    """Run four pipelines on a million orders. Run twice, it lands nothing twice."""
    from deltaworks.cli.edge import workspace
    from deltaworks.cli.progress import Progress
    from deltaworks.demo.folder import copy_pipelines, has_data, make_data
    from deltaworks.pipeline.asked import Asked

    with Progress() as progress:
        files = copy_pipelines(folder)
        if not has_data(folder):
            progress.say("making a million orders")
            make_data(folder)
            progress.pause()
        space = workspace(files[0], progress=progress)
        configs = [space.read(file) for file in files]
        results = []
        for file, config in zip(files, configs, strict=True):
            _announce(file)
            key = KEY if config.load.takes_keys else None
            results.append(space.run(config, Asked(key=key), file=str(file)))
            progress.pause()
            print_result(results[-1], config.load.place)
    _close(folder, configs, results, space.project.runs.path)


def _announce(file: Path) -> None:
    from deltaworks.demo.folder import purpose

    console = to_stdout()
    console.print()
    # Broken between words on a terminal; one line in a file.
    console.print(text((file.name, "bold"), f": {purpose(file)}"), soft_wrap=not console.is_terminal)


def _close(folder: Path, configs: list[PipelineConfig], results: list[RunResult], runs: str) -> None:
    console = to_stdout()
    console.print()
    if any(result.load.already_landed for result in results):
        console.print("The demo has run in this folder before: nothing landed twice.\n")
    places = dict.fromkeys(_near(folder, config.load.place) for config in configs)
    print_facts(
        [
            *(("written to" if number == 0 else "", place) for number, place in enumerate(places)),
            ("run records", _near(folder, runs)),
            ("pipelines", folder),
        ]
    )
    console.print("\n[bold]Try next:[/]")
    for command in _next(folder, runs):
        console.print(f"  {shlex.join(command)}", markup=False)


def _next(folder: Path, runs: str) -> list[list[str]]:
    return [
        [program(), "table", "history", str(folder / "tables/orders")],
        [program(), "runs", "list", "--runs", _near(folder, runs)],
        [program(), "plan", str(folder / "2-changes.yaml")],
    ]


def _near(folder: Path, place: str | Path) -> str:
    """A place in the folder, named the way the folder was."""
    path = Path(place)
    return str(folder / path.relative_to(folder.absolute())) if path.is_relative_to(folder.absolute()) else str(path)
