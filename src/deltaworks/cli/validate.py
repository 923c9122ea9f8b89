"""`deltaworks validate`: check pipeline files without starting anything."""

from __future__ import annotations

import typer

from deltaworks.cli.options import Env, Files, Json, Set
from deltaworks.cli.output import print_json, print_problem, to_stdout
from deltaworks.errors import DeltaworksError


def validate(files: Files, settings: Set = [], environment: Env = None, as_json: Json = False) -> None:
    """Check pipeline files: keys, types, impossible combinations. Starts no JVM."""
    from deltaworks.cli.here import read_pipeline
    from deltaworks.pipeline.overrides import parsed

    problems: list[dict[str, str]] = []
    for file in files:
        try:
            read_pipeline(file, environment, parsed(settings))
        except DeltaworksError as error:
            found = getattr(error, "problems", None) or [(str(error), error.hint)]
            problems += [{"file": str(file), "problem": problem, "hint": hint} for problem, hint in found]
    if as_json:
        print_json({"valid": not problems, "problems": problems})
    else:
        _show(files, problems)
    if problems:
        raise typer.Exit(2)


def _show(files: Files, problems: list[dict[str, str]]) -> None:
    for found in problems:
        print_problem(to_stdout(), found["problem"], found["hint"])
    if not problems:
        typer.echo(f"{', '.join(str(file) for file in files)}: valid")
