"""`deltaworks table`: looking at tables without Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltaworks.cli.options import CredentialId, Json, Uri
from deltaworks.cli.output import print_facts, print_json, print_rows, size

if TYPE_CHECKING:
    from deltaworks.lake.log import LoggedCommit
    from deltaworks.lake.table import Table

app = typer.Typer(help="Look at a Delta table, without Spark.", no_args_is_help=True)

Version = Annotated[
    int | None, typer.Option("--version", help="The table as it was at this version.", show_default=False)
]


@app.command("info")
def info(uri: Uri, version: Version = None, credential: CredentialId = None, as_json: Json = False) -> None:
    """Show what a table is: version, rows, files, partitioning, properties, features."""
    facts = _facts(_open(uri, version, credential))
    if as_json:
        print_json(facts)
        return
    shown = facts | {"bytes": size(facts["bytes"]), "version": str(facts["version"])}
    print_facts((name.replace("_", " "), _joined(value)) for name, value in shown.items())


@app.command("history")
def history(
    uri: Uri,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many commits, the newest first.")] = 20,
    credential: CredentialId = None,
    as_json: Json = False,
) -> None:
    """Show a table's commits, the newest first: when, what, by which run."""
    commits = [_commit(commit) for commit in _open(uri, None, credential).history(limit)]
    if as_json:
        print_json(commits)
        return
    headers = ("version", "when", "operation", "files", "pipeline", "run")
    print_rows(headers, [_history_row(commit) for commit in commits])


@app.command("schema")
def schema(uri: Uri, version: Version = None, credential: CredentialId = None, as_json: Json = False) -> None:
    """Show a table's columns."""
    table = _open(uri, version, credential)
    if as_json:
        print_json([{"name": c.name, "type": c.type, "nullable": c.nullable} for c in table.columns])
        return
    partitions = set(table.partition_columns)
    rows = [
        (c.name, c.type, "" if c.nullable else "not null", "partition" if c.name in partitions else "")
        for c in table.columns
    ]
    print_rows(("column", "type", "", ""), rows)


def _open(uri: str, version: int | None, credential: str | None) -> Table:
    from deltaworks.lake.log import Log
    from deltaworks.lake.storage import local_path, one_spelling
    from deltaworks.lake.table import table_of

    if local_path(uri) is not None:
        return table_of(Log(uri), version)
    from deltaworks.cli.here import access_here

    return table_of(Log(one_spelling(uri), access_here(uri, credential)), version)


def _facts(table: Table) -> dict[str, Any]:
    reader, writer = table.protocol
    return {
        "uri": table.uri,
        "id": table.id,
        "version": table.version,
        "rows": table.rows,
        "files": table.files.count,
        "bytes": table.files.bytes,
        "columns": len(table.columns),
        "partitioned_by": list(table.partition_columns),
        "properties": dict(table.properties),
        "protocol": f"reader {reader}, writer {writer}",
        "features": list(table.features),
    }


def _commit(commit: LoggedCommit) -> dict[str, Any]:
    ours = commit.ours
    made = None if commit.timestamp is None else datetime.fromtimestamp(commit.timestamp / 1000, UTC)
    return {
        "version": commit.version,
        "timestamp": made.isoformat(timespec="milliseconds") if made else None,
        "operation": commit.operation,
        "files_added": commit.added.count,
        "files_removed": commit.removed.count,
        "bytes_added": commit.added.bytes,
        "pipeline": ours.pipeline if ours else None,
        "run": ours.run_id if ours else None,
        "key": ours.key if ours else None,
        "user": ours.user if ours else None,
        "host": ours.host if ours else None,
        "why": ours.why if ours else None,
        "txn": {mark.app_id: mark.version for mark in commit.marks},
        "metrics": dict(commit.metrics),
    }


def _history_row(commit: dict[str, Any]) -> tuple[object, ...]:
    when = (commit["timestamp"] or "-")[:16].replace("T", " ")
    files = f"+{commit['files_added']} -{commit['files_removed']}"
    pipeline = commit["pipeline"] and (f"{commit['pipeline']}#{commit['key']}" if commit["key"] else commit["pipeline"])
    return str(commit["version"]), when, commit["operation"], files, pipeline, commit["run"]


def _joined(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{name}={inner}" for name, inner in value.items()) or "none"
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else value
