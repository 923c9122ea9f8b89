"""Live progress on stderr: a moving bar on a terminal, one line a stage elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from deltaworks.cli.output import to_stderr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaworks.runs.events import Stage
    from deltaworks.spark.jars import JarProgress

WORDS = {
    "extract": "looking at the source",
    "session": "starting Spark",
    "plan": "checking every step",
    "load": "loading",
    "preview": "looking at rows",
}


class Progress:
    """Shows what a run is doing. Use as a context manager; quiet, it shows nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = to_stderr()
        self._quiet = quiet
        self._live = self._console.is_terminal and not quiet
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            TimeElapsedColumn(),
        )
        self._bars = Bars(*columns, console=self._console, transient=True, disable=not self._live)
        self._task: TaskID | None = None
        self._spark = False

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def say(self, text: str, done: int | None = None, total: int | None = None) -> None:
        """Show that something new is being done."""
        if self._live:
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task = self._bars.add_task(text, total=total, completed=done or 0)
        elif not self._quiet:
            self._console.print(text, soft_wrap=True, markup=False)

    def pause(self) -> None:
        """Clear the line, so that a result can be printed."""
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._bars.refresh()
            self._task = None

    @contextmanager
    def away(self) -> Iterator[None]:
        """Leave the terminal to somebody who types."""
        self.pause()
        self._bars.stop()
        yield
        self._bars.start()

    def stage(self, stage: Stage) -> None:
        """A run has come to a new stage."""
        if stage.name == "session" and self._spark:  # it is there from an earlier run
            return
        self._spark = self._spark or stage.name == "session"
        said = f"waiting: {stage.detail}" if stage.name == "waiting" else WORDS.get(stage.name, stage.name)
        self.say(f"{stage.pipeline}: {said}")

    def tasks(self, done: int, total: int) -> None:
        """Spark has done some of its tasks."""
        if self._live and self._task is not None:
            self._bars.update(self._task, completed=done, total=total)

    def jar(self, jar: JarProgress) -> None:
        """A jar was found or, one more being done, fetched."""
        if self._live or jar.done:
            self.say(f"fetching jars, {jar.done} of {jar.total}: {jar.name}", jar.done, jar.total)
