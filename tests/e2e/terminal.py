"""Commands as the documents print them, typed one after the other into one process with one Spark session."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from deltaworks.api import spark_edge
from deltaworks.cli import edge
from deltaworks.cli.main import app

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pyspark.sql import SparkSession


class Terminal:
    """A shell in a folder that knows the one command."""

    def __init__(self, folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "160")
        monkeypatch.setattr(edge, "spark_edge", partial(spark_edge, session=spark))

    def type(self, line: str) -> str:
        """Run one line; say what it printed."""
        command, *words = shlex.split(line, comments=True)
        assert command == "deltaworks"
        done = CliRunner().invoke(app, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout
