"""Python's end of the driver's JVM."""

from __future__ import annotations

import sys
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

from deltaworks.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from deltaworks.spark.jvm import Jvm


# What PySpark's own launcher imports; PySpark then names these classes without their packages.
_IMPORTS = (
    "org.apache.spark.SparkConf",
    "org.apache.spark.api.java.*",
    "org.apache.spark.api.python.*",
    "org.apache.spark.ml.python.*",
    "org.apache.spark.mllib.api.python.*",
    "org.apache.spark.resource.*",
    "org.apache.spark.sql.Encoders",
    "org.apache.spark.sql.OnSuccessCall",
    "org.apache.spark.sql.functions",
    "org.apache.spark.sql.classic.*",
    "org.apache.spark.sql.api.python.*",
    "org.apache.spark.sql.hive.*",
    "scala.Tuple2",
)


def connected(jvm: Jvm) -> Any:
    """Connect PySpark to a JVM that we started, as its own launcher would."""
    from py4j.clientserver import ClientServer, JavaParameters, PythonParameters
    from py4j.java_gateway import java_import

    port, secret = jvm.wait()
    gateway = ClientServer(
        java_parameters=JavaParameters(port=port, auth_token=secret, auto_convert=True),
        python_parameters=PythonParameters(port=0, eager_load=False),
    )
    gateway.proc = jvm.process
    for name in _IMPORTS:
        java_import(gateway.jvm, name)
    return gateway


def submitted(conf: Mapping[str, str], log: IO[bytes] | int) -> Any:
    """Let spark-submit start the JVM, as masters do that need more than a class path."""
    from pyspark import SparkConf
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    asked = SparkConf(loadDefaults=False)
    asked.setAll(list(conf.items()))
    try:
        return launch_gateway(asked, popen_kwargs={"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
    except PySparkException as error:
        raise SetupError(
            "spark-submit ended before Spark's JVM was there.",
            hint=f"Try `spark-submit --master {conf['spark.master']} --version` with the same environment.",
        ) from error


def is_remote(spark: SparkSession) -> bool:
    """Say whether a session lives on a Spark Connect server: then there is no JVM at this end."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def disconnect(spark: SparkSession) -> None:
    """Stop a session's context and let its JVM end by itself; nobody waits for it."""
    context, gateway = spark.sparkContext, spark.sparkContext._gateway
    updates = context._accumulatorServer
    context._accumulatorServer = None  # type: ignore[assignment]
    # It would hear of the end at its next half second only.
    Thread(target=updates.shutdown, daemon=True).start()
    spark.stop()
    forget(gateway)


def forget(gateway: Any) -> None:
    """Let go of a JVM, so that the next session starts its own."""
    from pyspark import SparkContext

    gateway.shutdown()
    if gateway.proc is not None:
        gateway.proc.stdin.close()
    if SparkContext._gateway is gateway:
        SparkContext._gateway = SparkContext._jvm = None


def require_none() -> None:
    """Refuse a second session in this process; let go of a JVM that a stopped one left behind."""
    if "pyspark" not in sys.modules:  # importing it now would only keep the JVM waiting
        return
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        raise SetupError(
            "A Spark session is already open in this process, and Spark allows one.",
            hint="Pass that session as `spark=`, or stop it first.",
        )
    if SparkContext._gateway is not None:
        forget(SparkContext._gateway)
