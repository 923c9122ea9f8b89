"""What several families of tests share."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


def pytest_configure() -> None:
    """Let Ctrl-C reach the commands under test, even where we were started in the background, which ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark session of this test process."""
    from deltaworks.api import cache_folder
    from deltaworks.spark.session import close_session, open_session
    from deltaworks.spark.settings import SparkSettings

    # Tests are many small queries: compiling each of them well costs more than running it.
    conf = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.driver.memory": "3g",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    groups = frozenset({"delta", "avro"})
    session = open_session(SparkSettings(cache=cache_folder(os.environ), master="local[2]", conf=conf, groups=groups))
    yield session
    close_session(session)
