"""`run.log`: one line a stage, in the run's own folder."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from deltaworks.vault.redaction import Redactor

logger = logging.getLogger("deltaworks")
logger.addHandler(logging.NullHandler())


class RedactingFormatter(logging.Formatter):
    """Formats lines, tracebacks included, with every secret hidden."""

    def __init__(self, text: str, redactor: Redactor) -> None:
        super().__init__(text)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """One record as text."""
        return self._redactor.text(super().format(record))


@contextmanager
def run_log(path: Path, run_id: str, redactor: Redactor) -> Iterator[logging.LoggerAdapter[logging.Logger]]:
    """A logger for one run that also writes to its `run.log`."""
    own = logger.getChild(run_id)
    own.setLevel(logging.DEBUG)
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(run)s %(message)s", redactor))
    own.addHandler(handler)
    try:
        yield logging.LoggerAdapter(own, {"run": run_id})
    finally:
        own.removeHandler(handler)
        handler.close()
