"""`deltaworks doctor`: is everything here that a run needs?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltaworks.cli.options import CredentialId, Json
from deltaworks.cli.output import print_json, size, to_stdout
from deltaworks.errors import DeltaworksError, SetupError

if TYPE_CHECKING:
    from deltaworks.pipeline.workspace import SparkEdge

ENOUGH_DISK = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    ok: bool
    found: str
    advice: str = ""


def doctor(
    place: Annotated[
        str, typer.Argument(metavar="[PLACE]", help="A folder or bucket tables will be written to, as s3a://bucket.")
    ] = ".",
    credential: CredentialId = None,
    as_json: Json = False,
) -> None:
    """Check Java, Spark, jars, the time zone, and the disk or the bucket that tables will be written to."""
    import os

    from deltaworks.api import spark_edge
    from deltaworks.lake.storage import local_path, one_spelling

    edge = spark_edge(os.environ)
    path = local_path(place)
    groups = {"delta"} if path else {"delta", "s3"}
    checks: list[_Check] = [("java", lambda: _java(edge)), ("spark", _spark), ("jars", lambda: _jars(edge, groups))]
    checks += _of_disk(path) if path else _of_bucket(one_spelling(place), credential)
    findings = [_finding(name, check) for name, check in [*checks, ("time zone", _time_zone)]]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        _show(findings)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(3)


_Check = tuple[str, Callable[[], str]]


def _of_disk(path: Path) -> list[_Check]:
    return [("disk", lambda: _disk(path)), ("write access", lambda: _write_access(path))]


def _of_bucket(uri: str, credential: str | None) -> list[_Check]:
    from deltaworks.cli.here import access_here
    from deltaworks.lake.checkup import Checkup

    checkup = Checkup.of(uri, access_here(uri, credential))
    return [
        ("list", checkup.list),
        ("write", checkup.write),
        ("read", checkup.read),
        ("clock", checkup.clock),
        ("delete", checkup.delete),
        ("conditional put", checkup.conditional_put),
        ("log store", _log_store),
    ]


def _log_store() -> str:
    from deltaworks.spark.logstore import CONDITIONAL_PUT, logstore_jar

    logstore_jar()
    return f"{CONDITIONAL_PUT}, in every session that deltaworks opens"


def _finding(name: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, check())
    except DeltaworksError as error:
        return Finding(name, False, str(error), error.hint)


def _show(findings: list[Finding]) -> None:
    console = to_stdout()
    for finding in findings:
        word = "[green]ok[/]  " if finding.ok else "[red]bad[/] "
        console.print(f"{word} {finding.name:<16}", end="")
        console.print(finding.found, markup=False)
        if finding.advice:
            console.print(f"     {finding.advice}", markup=False)


def _java(edge: SparkEdge) -> str:
    from deltaworks.spark.java import find_java

    java = find_java(edge.java_home)
    return f"Java {java.version}, {java.path}"


def _spark() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"PySpark {version('pyspark')}, delta-spark {version('delta-spark')}"
    except PackageNotFoundError as error:
        raise SetupError(f"{error.name} is not installed.", hint="Run pip install 'deltaworks[spark]'.") from error


def _jars(edge: SparkEdge, groups: set[str]) -> str:
    from deltaworks.spark.home import pyspark_home
    from deltaworks.spark.jars import JarStore, jars_of
    from deltaworks.spark.java import find_java

    jars = jars_of(groups)
    store = JarStore(folder=edge.cache / "jars", java=find_java(edge.java_home), spark_home=pyspark_home())
    if any(not (store.folder / jar.file_name).is_file() for jar in jars):
        return f"not fetched yet; the first run fetches {len(jars)} to {store.folder}"
    store.ensure(jars)
    return f"{len(jars)} in {store.folder}, checksums right"


def _disk(path: Path) -> str:
    import shutil

    free = shutil.disk_usage(_existing(path)).free
    if free < ENOUGH_DISK:
        raise SetupError(f"Only {size(free)} are free at {path}.", hint="Free some space before loading.")
    return f"{size(free)} free at {path}"


def _write_access(path: Path) -> str:
    import tempfile

    folder = _existing(path)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"deltaworks")
    except OSError as error:
        raise SetupError(
            f"{folder} cannot be written: {error.strerror}.", hint="Choose another folder, or change its rights."
        ) from error
    return f"{folder.absolute()} can be written"


def _existing(path: Path) -> Path:
    return next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.is_dir())


def _time_zone() -> str:
    return f"this machine: {time.tzname[0]}; pipelines: UTC unless spark.sql.session.timeZone says otherwise"
