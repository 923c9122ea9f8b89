"""`deltaworks runs`: what happened."""

from __future__ import annotations

from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltaworks.cli.options import Json, Runs
from deltaworks.cli.output import named, print_facts, print_json, print_rows, to_stdout
from deltaworks.cli.result import rule_line, step_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaworks.runs.folder import RunFolder
    from deltaworks.runs.record import RunRecord
    from deltaworks.runs.result import Kept

app = typer.Typer(help="What happened in earlier runs.", no_args_is_help=True)


@app.command("list")
def list_runs(
    pipeline: Annotated[
        str | None, typer.Option("--pipeline", help="Only runs of this pipeline.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many, the newest first.")] = 20,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """List runs, the newest first."""
    from dataclasses import asdict

    folder = _folder(runs)
    records = list(folder.newest(limit, pipeline))
    if as_json:
        print_json([asdict(record) for record in records])
    elif not records:
        to_stdout().print(f"No runs in {folder.uri} yet.", markup=False)
    else:
        print_rows(("run", "pipeline", "status", "rows", "version", "seconds"), [_row(record) for record in records])


@app.command("show")
def show_run(
    run_id: Annotated[str, typer.Argument(metavar="ID", help="A run's id, or a part only it has.", show_default=False)],
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Show one run: what it read, did and wrote, or why it failed."""
    from dataclasses import asdict

    folder = _folder(runs)
    record = folder.find(run_id)
    if as_json:
        print_json(asdict(record))
    else:
        _show(record, folder.of(record))


def _folder(runs: str | None) -> RunFolder:
    from deltaworks.cli.here import runs_here

    folder = runs_here(runs)
    folder.close_interrupted()
    return folder


def _row(record: RunRecord) -> tuple[object, ...]:
    result = record.result or {}
    version = result.get("version")
    return (
        record.run_id,
        " ".join(filter(None, (record.pipeline_id, record.part))),
        record.status.value,
        result.get("rows_read"),
        "-" if version is None else str(version),
        f"{_seconds(record):.1f}",
    )


def _seconds(record: RunRecord) -> float:
    ended = datetime.fromisoformat(record.ended) if record.ended else datetime.now().astimezone()
    return (ended - datetime.fromisoformat(record.started)).total_seconds()


def _show(record: RunRecord, folder: str) -> None:
    result, error, plan = record.result or {}, record.error or {}, record.plan
    facts: list[tuple[str, object]] = [
        ("run", record.run_id),
        ("pipeline", record.pipeline_id),
        ("status", record.status.value),
        ("file", record.file),
        ("key", record.key),
        ("started", record.started),
        ("ended", record.ended),
        ("by", f"{record.user} on {record.process.host}, process {record.process.pid}"),
        ("reads", plan.get("reads")),
        *named("does", plan.get("steps", ())),
        ("writes", plan.get("write", {}).get("action")),
        *(
            (name.replace("_", " "), str(value) if name == "version" else value)
            for name, value in result.items()
            if value not in (None, False) and not isinstance(value, list)
        ),
        *named("rules", [rule_line(_kept(rule)) for rule in result.get("expectations", ())]),
        *named("note", result.get("notes", ())),
        *named("then", chain.from_iterable(map(_step_lines, record.after))),
        ("error", error.get("message")),
        ("hint", error.get("hint")),
        ("record", folder),
    ]
    print_facts([(name, value) for name, value in facts if value is not None])


def _kept(rule: dict[str, Any]) -> Kept:
    from deltaworks.runs.result import Kept

    return Kept(rule["name"], rule["on_failure"], rule["broken"])


def _step_lines(step: dict[str, Any]) -> Iterator[str]:
    from deltaworks.runs.result import StepResult

    # Keys of a later version are left out, as in the rest of a record.
    found = StepResult(**{name: step[name] for name in StepResult.__dataclass_fields__ if name in step})
    yield step_line(found)
    if found.hint:
        yield f"Hint: {found.hint}"
