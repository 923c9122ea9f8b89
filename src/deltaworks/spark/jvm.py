"""The driver's JVM, started without spark-submit and talked to through Py4J's own handshake."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from deltaworks.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaworks.spark.java import Java

START_LIMIT = 120.0  # seconds
MAIN = "org.apache.spark.api.python.PythonGatewayServer"
# Spark's own list (JavaModuleOptions), without the incubating vector module: it serves MLlib only and prints a warning.
_OPEN = "lang lang.invoke lang.reflect io net nio util util.concurrent util.concurrent.atomic"
_OPEN_INSIDE = "jdk.internal.ref sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar"
_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in _OPEN.split()),
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN_INSIDE.split()),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "-Dderby.connection.requireAuthentication=false",
)
# Avro makes room for as many bytes or items as a record claims to have, before it looks whether they are there: one bad
# record would be the end of the whole JVM. No record of Kafka's, and hardly one of a file, has a value as long as this.
_MOST_BYTES, _MOST_ITEMS = 64 << 20, 16 << 20
AVRO_LIMITS = (
    f"-Dorg.apache.avro.limits.string.maxLength={_MOST_BYTES}",
    f"-Dorg.apache.avro.limits.bytes.maxLength={_MOST_BYTES}",
    f"-Dorg.apache.avro.limits.collectionItems.maxLength={_MOST_ITEMS}",
)
# The optimising compiler waits until a method is really hot (twenty times its default): on few cores it otherwise takes
# half the machine away from a start, to compile what runs once. Loops over rows are hot within their first second.
_PATIENCE = 20
_COMPILER = {"Invocation": 5000, "MinInvocation": 600, "Compile": 15000, "BackEdge": 40000}
_COLLECTOR = re.compile(r"-XX:\+Use\w+GC")


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmPlan:
    """How the driver's JVM is started; no secret may be in it, for every user can read a command line."""

    java: Java
    spark_home: Path
    class_path: tuple[Path | str, ...]
    options: tuple[str, ...] = ()
    log: Path | None = None

    def with_options(self, more: tuple[str, ...]) -> JvmPlan:
        """Return the same plan with more options for the JVM; those it has win."""
        return replace(self, options=(*more, *self.options))

    def command(self) -> list[str]:
        """Spell the plan as a command."""
        class_path = ":".join(map(str, self.class_path))
        return [
            str(self.java.path),
            "-cp",
            class_path,
            *_OPTIONS,
            *AVRO_LIMITS,
            *_compiler(),
            *log_options(self.log),
            *self.options,
            MAIN,
        ]


def _compiler() -> list[str]:
    return [f"-XX:Tier4{name}Threshold={count * _PATIENCE}" for name, count in _COMPILER.items()]


def log_options(log: Path | None) -> tuple[str, ...]:
    """Tell the driver how much to log; where to, its standard error decides."""
    configuration = Path(__file__).with_name("log4j2.properties")
    return (f"-Dlog4j2.configurationFile={configuration}", f"-Ddeltaworks.log.level={'warn' if log else 'error'}")


def memory_and_options(conf: Mapping[str, str]) -> tuple[str, ...]:
    """Read from the configuration what a JVM must know before it starts."""
    memory = conf.get("spark.driver.memory")
    # Spark's default of 1 GiB is for a driver that only directs; a local one does all the work.
    heap = f"-Xmx{memory}" if memory else "-XX:MaxRAMPercentage=50"
    extra = [conf.get(f"spark.driver.{kind}JavaOptions", "") for kind in ("default", "extra")]
    given = [word for options in extra for word in shlex.split(options)]
    # The collector that costs rows least; nobody waits for an answer that a pause would delay.
    collector = () if any(_COLLECTOR.fullmatch(word) for word in given) else ("-XX:+UseParallelGC",)
    return (heap, *collector, *given)


class Jvm:
    """A driver's JVM that was started; it ends when its standard input does, so it never outlives us."""

    def __init__(self, plan: JvmPlan) -> None:
        self._scratch = Path(tempfile.mkdtemp(prefix="deltaworks-"))
        self._log: IO[bytes] = plan.log.open("a+b") if plan.log else tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            ["/usr/bin/env", *self._variables(plan), *plan.command()],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            process_group=0,  # Ctrl-C is for us; we tell Spark
        )

        self._ending = weakref.finalize(self, _end, self.process, self._scratch)

    def cancel(self) -> None:
        """End a JVM that nobody will talk to; without this it would wait for ever."""
        self._ending()

    def _variables(self, plan: JvmPlan) -> list[str]:
        return [
            f"_PYSPARK_DRIVER_CONN_INFO_PATH={self._address}",
            f"SPARK_HOME={plan.spark_home}",
            f"PYSPARK_PYTHON={sys.executable}",  # workers must be this Python, not the first on the PATH
            "PYSPARK_PIN_THREAD=true",  # both ends must agree
        ]

    @property
    def _address(self) -> Path:
        return self._scratch / "address"

    def wait(self) -> tuple[int, str]:
        """Wait until the JVM listens; return its port and its secret."""
        give_up = time.monotonic() + START_LIMIT
        try:
            while not self._address.exists():
                if self.process.poll() is not None or time.monotonic() > give_up:
                    raise self._failed()
                time.sleep(0.005)
            said = self._address.read_bytes()
        except BaseException:
            self.cancel()
            raise
        self._ending.detach()
        shutil.rmtree(self._scratch, ignore_errors=True)
        return int.from_bytes(said[:4]), said[8:].decode()

    def _failed(self) -> SetupError:
        self._log.seek(0)
        last = self._log.read().decode(errors="replace").strip().splitlines()[-3:]
        return SetupError(
            f"Spark's JVM did not start: {' / '.join(last) or 'it said nothing'}.",
            hint="Check `spark.driver.memory` and `spark.driver.extraJavaOptions`, and how much memory is free.",
        )


def _end(process: subprocess.Popen[bytes], scratch: Path) -> None:
    process.kill()
    process.wait()
    shutil.rmtree(scratch, ignore_errors=True)
