"""The command `deltaworks`: one place turns our errors into two lines and an exit code."""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from deltaworks.cli import demo, doctor, plan, run, runs, schema, state, table, validate, vault
from deltaworks.cli.output import print_error
from deltaworks.errors import DeltaworksError, SetupError, StoppedError

if TYPE_CHECKING:
    from types import FrameType


class _Commands(TyperGroup):
    """All commands; one that is stopped says so, where Typer would only exit."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise StoppedError("Stopped.", hint="Run it again; what had landed is in the table.") from stop


app = typer.Typer(
    cls=_Commands,
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
app.add_typer(state.app, name="state")
app.add_typer(table.app, name="table")
app.add_typer(vault.app, name="vault")
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
    except OSError as error:
        _forget_output()
        print_error(SetupError(f"The machine said no: {error}.", hint="Is the disk full, or a right missing?"))
        sys.exit(SetupError.exit_code)


def _forget_output() -> None:
    """Let Python end without trying once more to print what could not be printed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
