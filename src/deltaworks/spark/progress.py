"""How far Spark's running tasks have come."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

EVERY = 0.3  # seconds


@contextmanager
def watched(spark: SparkSession, on_tasks: Callable[[int, int], None] | None) -> Iterator[None]:
    """Report done and all tasks of the running stages while something is done inside."""
    context = None if on_tasks is None else getattr(spark, "_sc", None)  # a Connect client has none
    if context is None or on_tasks is None:
        yield
        return
    over = Event()
    thread = Thread(target=_watch, args=(context.statusTracker(), on_tasks, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _watch(tracker: Any, on_tasks: Callable[[int, int], None], over: Event) -> None:
    while not over.wait(EVERY):
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        counts = [(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage is not None]
        if counts:
            on_tasks(sum(done for done, _ in counts), sum(total for _, total in counts))
