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


class Redacting(logging.Filter):
    """Hides every secret in a line and its traceback, before any handler, the caller's own too, gets to see them."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through, its text redacted."""
        record.msg, record.args = self._redactor.text(record.getMessage()), None
        if record.exc_info:
            record.exc_text = self._redactor.text(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True


@contextmanager
def run_log(path: Path, run_id: str, redactor: Redactor) -> Iterator[logging.LoggerAdapter[logging.Logger]]:
    """A logger for one run that also writes to its `run.log`."""
    own = logger.getChild(run_id)
    own.setLevel(logging.DEBUG)
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(run)s %(message)s"))
    redacting = Redacting(redactor)
    own.addFilter(redacting)
    own.addHandler(handler)
    try:
        yield logging.LoggerAdapter(own, {"run": run_id})
    finally:
        own.removeHandler(handler)
        own.removeFilter(redacting)
        handler.close()
