"""Which Spark and Delta we are built for, and whether a session is that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltaworks.errors import SetupError
from deltaworks.spark.conf import CATALOG, DELTA_CATALOG, DELTA_EXTENSION, EXTENSIONS, IDEMPOTENCE_CHECK
from deltaworks.spark.gateway import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Supported:
    """A range of versions, the last one left out."""

    name: str
    first: tuple[int, int]
    below: tuple[int, int]

    def require(self, version: str) -> None:
        """Refuse a version outside the range."""
        major, minor = (int("".join(filter(str.isdigit, part)) or 0) for part in f"{version}.0".split(".")[:2])
        if not self.first <= (major, minor) < self.below:
            raise SetupError(f"This session runs {self.name} {version}; Deltaworks needs {self}.", hint=HINT)

    def __str__(self) -> str:
        return f"{self.name} {_dotted(self.first)} or newer, below {_dotted(self.below)}"


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


SPARK = Supported(name="Spark", first=(4, 1), below=(4, 2))
DELTA = Supported(name="Delta Lake", first=(4, 4), below=(4, 5))
HINT = f"Use a platform with {SPARK} and {DELTA}, or `jars: managed`, which brings both."


def check_platform(spark: SparkSession) -> None:
    """Refuse a session whose versions or settings could not keep our promises."""
    SPARK.require(spark.version)
    DELTA.require(_delta_version(spark))
    _require_conf(spark, EXTENSIONS, DELTA_EXTENSION)
    _require_conf(spark, CATALOG, DELTA_CATALOG)
    require_idempotence(spark)


def require_idempotence(spark: SparkSession) -> None:
    """Turn on Delta's check for a commit whose acknowledgement was lost, or refuse the session."""
    from pyspark.errors import PySparkException

    try:
        spark.conf.set(IDEMPOTENCE_CHECK, "true")
    except PySparkException as error:
        raise SetupError(
            f"This session does not let us set {IDEMPOTENCE_CHECK}.",
            hint="Without it a lost reply from storage could double rows. Set it to true where the session is made.",
        ) from error


def _delta_version(spark: SparkSession) -> str:
    """What Delta says of itself; only a server is asked by SQL, for which a new JVM takes seconds."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        if is_remote(spark):
            return str(spark.sql("SELECT reflect('io.delta.package', 'VERSION')").collect()[0][0])
        jvm: Any = spark._jvm
        return str(jvm.io.delta.package.VERSION())
    except (PySparkException, Py4JError, TypeError) as error:  # a class that is not there is a package, and no function
        raise SetupError("This session has no Delta Lake on its class path.", hint=HINT) from error


def _require_conf(spark: SparkSession, key: str, wanted: str) -> None:
    found = spark.conf.get(key, "") or ""
    if wanted not in [name.strip() for name in found.split(",")]:
        raise SetupError(
            f"This session was made without Delta: {key} is {found or 'not set'}.",
            hint=f"Make the session with {key}={wanted}.",
        )
