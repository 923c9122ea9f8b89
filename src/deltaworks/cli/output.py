"""How things look on a terminal, and in a file."""

from __future__ import annotations

import json
import logging
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deltaworks.errors import DeltaworksError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

NULL = "NULL"


def to_stdout(*, soft_wrap: bool = True, width: int | None = None) -> Console:
    """Where results go."""
    from rich.console import Console

    return Console(emoji=False, highlight=False, soft_wrap=soft_wrap, width=width)


def to_stderr() -> Console:
    """Where progress and errors go."""
    from rich.console import Console

    return Console(stderr=True, emoji=False, highlight=False)


def text(*parts: str | tuple[str, str]) -> Text:
    """Text as it is, some of it in a style."""
    from rich.text import Text

    return Text.assemble(*parts)


def print_json(value: Any) -> None:
    """Print a value for machines."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def print_error(error: DeltaworksError) -> None:
    """What happened and what to do, a line each; where a run failed, where to read more."""
    console = to_stderr()
    print_problem(console, str(error), error.hint)
    if error.record:
        run_id = error.record.rpartition("/")[2]
        console.print(text(f"Record: {error.record}"), soft_wrap=True)
        console.print(text(f"See it: {program()} runs show {run_id}{_elsewhere(error.record)}"), soft_wrap=True)


def print_problem(console: Console, problem: str, hint: str) -> None:
    """What is wrong and what to do, a line each."""
    console.print(text(("Error:", "red"), f" {problem}"), soft_wrap=True)
    console.print(text(f"Hint: {hint}"), soft_wrap=True)


def program() -> str:
    """What to type to start this program again: `deltaworks`, or its path where a shell would not find it."""
    typed = Path(sys.argv[0])
    found = shutil.which("deltaworks")
    if typed.name != "deltaworks" or (found and typed.exists() and Path(found).samefile(typed)):
        return "deltaworks"
    return str(typed)


def print_rows(headers: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    """Print a table without frames, numbers on the right; where it is too wide, a block of lines a row."""
    body = [[_shown(cell) for cell in row] for row in rows]
    console = to_stdout(soft_wrap=False)
    if title:
        console.print(text((title, "bold")), soft_wrap=True)
    table = _table(headers, body)
    width = console.measure(table, options=console.options.update(max_width=10_000)).maximum
    if width <= console.width or not console.is_terminal:
        to_stdout(soft_wrap=False, width=max(width, console.width)).print(table)
        return
    for row in body or [[""] * len(headers)]:
        lines = zip((header.replace("\n", " ") for header in headers), row, strict=True)
        print_facts((header, cell) for header, cell in lines if header or cell)
        console.print()


def _table(headers: Sequence[str], body: Sequence[Sequence[str]]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, header in enumerate(headers):
        numbers = bool(body) and all(_is_number(row[at]) for row in body)
        table.add_column(text(header), justify="right" if numbers else "left", no_wrap=True)
    for row in body:
        table.add_row(*map(text, row))
    return table


def print_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print names and values, a line each."""
    pairs = [(name, _shown(value)) for name, value in facts]
    width = max((len(name) for name, _ in pairs), default=0)
    console = to_stdout()
    for name, value in pairs:
        console.print(text((name.ljust(width), "bold"), f"  {value}"))


def named(name: str, values: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Facts of one name, which only the first of them shows."""
    for number, value in enumerate(values):
        yield "" if number else name, value


def counted(count: int, thing: str, things: str | None = None) -> str:
    """So many things, as people say it."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {things or f'{thing}s'}"


def size(count: int) -> str:
    """Bytes as people say them."""
    amount = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def log_to_stderr() -> None:
    """Show the log as it is written."""
    handler = logging.StreamHandler()
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(run)s %(message)s", datefmt="%H:%M:%S", defaults={"run": "-"})
    )
    logging.getLogger("deltaworks").addHandler(handler)


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").replace("-", "").isdigit() or text in ("-", NULL)


def _elsewhere(record: str) -> str:
    from deltaworks.cli.here import project_here

    runs = record.rsplit("/", 2)[0]
    with suppress(DeltaworksError):  # a broken project file here has nothing to do with what failed there
        if project_here(None).runs.path == runs:
            return ""
    return f" --runs {shlex.quote(runs)}"
