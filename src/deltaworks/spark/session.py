"""The Spark session: opened, isolated, closed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from deltaworks.errors import SetupError
from deltaworks.spark.archive import Archive, archive_for, make_later
from deltaworks.spark.conf import OPENED_BY_US, STAMPS, for_submit, to_conf
from deltaworks.spark.gateway import connected, disconnect, forget, is_remote, require_none, submitted
from deltaworks.spark.home import pyspark_home, spark_jars
from deltaworks.spark.jars import JarProgress, JarStore, jars_of
from deltaworks.spark.java import find_java
from deltaworks.spark.jvm import AVRO_LIMITS, Jvm, JvmPlan, log_options, memory_and_options
from deltaworks.spark.logstore import logstore_jar
from deltaworks.spark.platform import check_platform, require_idempotence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from deltaworks.spark.settings import SparkSettings

__all__ = [
    "JarProgress",
    "Starting",
    "check_platform",
    "close_session",
    "given_conf",
    "isolated",
    "open_session",
    "prepare_next",
    "warm_up",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """A session on its way: its configuration is decided and its JVM, if it is ours, is starting."""

    settings: SparkSettings
    conf: Mapping[str, str]
    jvm: Jvm | None = None
    plain: JvmPlan | None = None  # how to start again, should the class-data archive be bad


def warm_up(
    settings: SparkSettings,
    *,
    progress: Callable[[JarProgress], None] | None = None,
    record: Path | None = None,
) -> Starting:
    """Check the settings, fetch missing jars and start the JVM, which then starts while we do other work.

    With `record` the JVM writes a class-data archive there when it ends.
    """
    conf = to_conf(settings, cores=len(os.sched_getaffinity(0)))
    _require_listener(settings)
    if settings.remote:
        return Starting(settings=settings, conf=conf)
    if settings.jars == "provided":
        return Starting(settings=settings, conf=_with_jars(conf, (logstore_jar(),)))
    require_none()
    jars = (*_store(settings).ensure(jars_of(settings.groups), progress or _silent), logstore_jar())
    if not (settings.local and settings.direct):
        conf = _with_jars(conf, jars)
    if not settings.direct:
        return Starting(settings=settings, conf=conf)
    plan = _jvm_plan(settings, conf, jars)
    options = _recording(record) if record else archive_of(settings).options()
    return Starting(settings=settings, conf=conf, jvm=Jvm(plan.with_options(options)), plain=plan)


def _with_jars(conf: Mapping[str, str], jars: tuple[Path, ...]) -> dict[str, str]:
    return {**conf, "spark.jars": ",".join([*map(str, jars), *filter(None, [conf.get("spark.jars")])])}


def _recording(draft: Path) -> tuple[str, ...]:
    # The quick compiler: how a class was compiled is not in the archive.
    return (f"-XX:ArchiveClassesAtExit={draft}", "-XX:TieredStopAtLevel=1")


def archive_of(settings: SparkSettings) -> Archive:
    """Name the class-data archive that fits these settings.

    It covers Spark and Delta, the first part of every class path, so that it serves all connectors.
    """
    delta = (settings.cache / "jars" / jar.file_name for jar in jars_of({"delta"}))
    return archive_for(settings.cache, find_java(settings.java_home), (*spark_jars(pyspark_home()), *delta))


def prepare_next(settings: SparkSettings) -> None:
    """After a success: have the class-data archive made in the background, so that the next start is faster."""
    if settings.direct:
        make_later(archive_of(settings), settings)


def open_session(
    settings: SparkSettings | Starting, *, progress: Callable[[JarProgress], None] | None = None
) -> SparkSession:
    """Open a session with Delta in it; whoever opened it closes it."""
    starting = settings if isinstance(settings, Starting) else warm_up(settings, progress=progress)
    _typed_conflicts()
    _hush()
    if starting.settings.remote:
        return _remote(starting)
    return _provided(starting) if starting.settings.jars == "provided" else _classic(starting)


def isolated(spark: SparkSession) -> SparkSession:
    """Return a session beside `spark` whose configuration and views are its own, and that is safe to commit from."""
    _typed_conflicts()
    beside = cast("Any", spark).cloneSession() if is_remote(spark) else spark.newSession()
    for key in STAMPS:
        beside.conf.unset(key)
    require_idempotence(beside)
    return cast("SparkSession", beside)


def close_session(spark: SparkSession) -> None:
    """Close a session that `open_session` made; a session that was there before stays open."""
    if is_remote(spark):
        spark.stop()
    elif spark.sparkContext.getConf().get(OPENED_BY_US) == "true":
        disconnect(spark)


def given_conf(spark: SparkSession) -> dict[str, str]:
    """The configuration a session was given, its context's included, and what its owner told Hadoop directly."""
    return _told_hadoop(spark) | dict(spark.conf.getAll)


def _told_hadoop(spark: SparkSession) -> dict[str, str]:
    if is_remote(spark):
        return {}
    conf = cast("Any", spark)._jsc.hadoopConfiguration()
    found = {f"fs.s3a.{name}": conf.get(f"fs.s3a.{name}") for name in _S3A}
    # Hadoop's own default, false, is nobody's word.
    return {name: value for name, value in found.items() if value and value != "false"}


_S3A = ("endpoint", "endpoint.region", "access.key", "secret.key", "session.token", "path.style.access")


def _silent(_: JarProgress) -> None:
    """Report to nobody."""


def _store(settings: SparkSettings) -> JarStore:
    return JarStore(
        folder=settings.cache / "jars",
        java=find_java(settings.java_home),
        spark_home=pyspark_home(),
        ivy_settings=settings.ivy_settings,
    )


def _jvm_plan(settings: SparkSettings, conf: Mapping[str, str], jars: tuple[Path, ...]) -> JvmPlan:
    home = pyspark_home()
    extra = conf.get("spark.driver.extraClassPath", "").split(":")
    return JvmPlan(
        java=find_java(settings.java_home),
        spark_home=home,
        class_path=(*spark_jars(home), *jars, *filter(None, extra)),
        options=memory_and_options(conf),
        log=settings.log,
    )


def _classic(starting: Starting) -> SparkSession:
    with _as_setup_error(starting):
        gateway = _started(starting) if starting.jvm else _submitted(starting)
        try:
            return _session(starting, gateway)
        except BaseException:
            forget(gateway)
            raise


def _started(starting: Starting) -> Any:
    assert starting.jvm is not None
    assert starting.plain is not None
    try:
        return connected(starting.jvm)
    except SetupError:
        archive = archive_of(starting.settings)
        if not archive.folder.exists():
            raise
        gateway = connected(Jvm(starting.plain))
        archive.delete()  # only now is it known to be the archive's fault
        return gateway


def _submitted(starting: Starting) -> Any:
    theirs = starting.conf.get("spark.driver.extraJavaOptions", "")
    options = " ".join([*log_options(starting.settings.log), *AVRO_LIMITS, theirs])
    conf = {**for_submit(starting.conf), "spark.driver.extraJavaOptions": options}
    if starting.settings.log is None:
        return submitted(conf, subprocess.DEVNULL)
    with starting.settings.log.open("ab") as log:
        return submitted(conf, log)


def _session(starting: Starting, gateway: Any) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    # Secrets reach the JVM here, through the authenticated socket, and not on a command line.
    conf = SparkConf(loadDefaults=False).setAll(list(starting.conf.items()))
    with _own_interrupt():
        context = SparkContext(conf=conf, gateway=gateway)
    if starting.settings.local:
        context.pythonExec = sys.executable
    return SparkSession(context, options=dict(starting.conf))


def _provided(starting: Starting) -> SparkSession:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    running = SparkContext._active_spark_context
    spark = SparkSession(running) if running else _classic(starting)
    try:
        check_platform(spark)
    except SetupError:
        close_session(spark)
        raise
    return spark


def _remote(starting: Starting) -> SparkSession:
    from pyspark.sql import SparkSession

    with _as_setup_error(starting):
        spark: SparkSession = (
            SparkSession.builder.remote(starting.settings.master).config(map=dict(starting.conf)).create()
        )
        check_platform(spark)
    return spark


@contextmanager
def _own_interrupt() -> Iterator[None]:
    """Keep what Ctrl-C does: PySpark's handler calls the JVM from inside the call it interrupts, and breaks both."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _require_listener(settings: SparkSettings) -> None:
    """Say at once that nobody listens there: Spark would try again for one minute, its Connect client for ten."""
    address = urlsplit(settings.master)
    if address.scheme not in ("sc", "spark") or "," in address.netloc:
        return
    try:
        socket.create_connection((address.hostname or "", address.port or 15002), timeout=10).close()
    except ConnectionRefusedError as error:
        raise SetupError(f"Nobody listens on {settings.master}.", hint=_hint(settings)) from error
    except OSError:
        return  # a proxy may know the way


@contextmanager
def _as_setup_error(starting: Starting) -> Iterator[None]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException, ImportError, ValueError) as error:
        reason = next((line for line in str(error).splitlines() if "Exception" in line or "Error" in line), str(error))
        raise SetupError(
            f"No Spark session could be opened on {starting.settings.master}: {reason.strip(': ')}",
            hint=_hint(starting.settings),
        ) from error


def _hint(settings: SparkSettings) -> str:
    if settings.remote:
        return "Is the Spark Connect server running there, and is `pip install 'pyspark[connect]'` done here?"
    if settings.local:
        return "Look at `spark.conf` in the file; with `-v` Spark's own log says more."
    return "Is the master running there, and can it reach this machine?"


def _typed_conflicts() -> None:
    """Teach PySpark Delta's conflicts; one that comes before would only be a Java error without a type."""
    try:
        import delta.exceptions  # noqa: F401
    except ImportError as error:
        raise SetupError(
            "The Python package `delta-spark` is not installed.", hint="Run `pip install 'deltaworks[spark]'`."
        ) from error


def _hush() -> None:
    """Keep PySpark from printing, as JSON, every error that it also raises."""
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
