"""One Spark session for several pipelines of one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.spark.session import close_session, open_session, prepare_next

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from deltaworks.spark.jars import JarProgress
    from deltaworks.spark.settings import SparkSettings


class SharedSession:
    """A session opened when it is first asked for, and opened anew when it lacks jars or other settings are."""

    def __init__(self) -> None:
        self.spark: SparkSession | None = None
        self._settings: SparkSettings | None = None

    def get(self, settings: SparkSettings, on_jar: Callable[[JarProgress], None] | None = None) -> SparkSession:
        """The session for these settings; one that has more jars serves as well."""
        wanted = settings.with_jars_of(self._settings) if self._settings else settings
        if self.spark is None or self._settings != wanted:
            self.stop()
            self.spark = open_session(wanted, progress=on_jar)
            self._settings = wanted
        return self.spark

    def went_well(self) -> None:
        """After a success: let the next start be faster."""
        if self._settings is not None:
            prepare_next(self._settings)

    def stop(self) -> None:
        """End the session, if there is one."""
        if self.spark is not None:
            close_session(self.spark)
        self.spark = None
