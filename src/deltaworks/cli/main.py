"""The command `deltaworks`: one place turns our errors into two lines and an exit code."""

from __future__ import annotations

import logging
import signal
import sys
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from deltaworks.cli import demo, doctor, plan, run, runs, schema, table, validate
from deltaworks.cli.output import print_error
from deltaworks.errors import DeltaworksError, StoppedError

if TYPE_CHECKING:
    from types import FrameType

app = typer.Typer(
    help="Declarative pipelines that land data in Delta Lake exactly once.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(validate.validate)
app.command()(schema.schema)
app.command()(plan.plan)
app.command()(run.run)
app.add_typer(runs.app, name="runs")
app.add_typer(table.app, name="table")
app.command()(doctor.doctor)
app.command()(demo.demo)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"deltaworks {version('deltaworks')}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Show our own errors as two lines and an exit code, never as a traceback."""
    signal.signal(signal.SIGTERM, _stop)
    # Py4J logs an interrupted call to the root, which would then print everything; our errors are two lines.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        app()
    except DeltaworksError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print_error(StoppedError("Stopped.", hint="Run it again; what had landed is in the table."))
        sys.exit(130)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
