"""The log store's jar: made from java/ into the package, anew only when something it is made from changed.

A JRE has no compiler, so Eclipse's is fetched like any other jar. Plain Python can ask whether the jar is current.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from tools.problem import Problem, reporting

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
JAR = "src/deltaworks/spark/logstore.jar"
MADE_FROM = ("java/**/*.java", "src/deltaworks/spark/jars.toml", "tools/logstore.py")
MANIFEST = "META-INF/MANIFEST.MF"

COMPILER = ("org.eclipse.jdt", "ecj", "3.40.0", "05cc22a24e7982970f63a405fc6c820bc80b806f27f3c5a6236fc475f8f7152b")
# Classes for Java 17, by source and target: `--release` needs a file that not every newer JRE has.
OPTIONS = ("-source", "17", "-target", "17", "-encoding", "UTF-8", "-proc:none", "-failOnWarning")
# Of the jars that PySpark has, and of those we fetch: S3A's own classes need those of Amazon that they extend.
WITH_SPARK = (
    "hadoop-client-api-*.jar",
    "spark-sql_*.jar",
    "spark-sql-api_*.jar",
    "spark-catalyst_*.jar",
    "spark-common-utils_*.jar",
    "scala-library-*.jar",
)
NEEDED = ("delta-storage", "delta-spark_4.1_2.13", "hadoop-aws", "aws-core", "s3", "sdk-core", "utils")


def main() -> None:
    """Make the jar, unless it is current."""
    if not is_current(ROOT):
        print("Making the log store's jar …", flush=True)
        make(ROOT)


def is_current(root: Path) -> bool:
    """Say whether the jar is there and made from what is there now."""
    try:
        with zipfile.ZipFile(root / JAR) as jar:
            return jar.read(MANIFEST) == manifest(root)
    except (OSError, KeyError, zipfile.BadZipFile):
        return False


def require_current(root: Path) -> None:
    """Refuse to go on with a jar that is missing or of an earlier time."""
    if not is_current(root):
        raise Problem(f"{JAR} is missing, or older than java/.", hint="Run `make setup` first: it makes the jar.")


def manifest(root: Path) -> bytes:
    """Spell the jar's manifest, which knows what the jar was made from."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in MADE_FROM for path in root.glob(pattern)):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    # A line of a manifest ends after 72 bytes.
    return f"Manifest-Version: 1.0\r\nMade-From: {digest.hexdigest()[:40]}\r\n\r\n".encode()


def make(root: Path) -> None:
    """Compile and pack; a jar appears whole or not at all."""
    draft = root / f"{JAR}.tmp"
    with tempfile.TemporaryDirectory(prefix="deltaworks-logstore-") as folder:
        compile_into(Path(folder), root / "java")
        pack(Path(folder), manifest(root), draft)
    draft.replace(root / JAR)


def compile_into(folder: Path, sources: Path) -> None:
    """Compile every source; a warning is an error."""
    from deltaworks.spark.java import find_java

    compiler, *class_path = jars()
    java = [str(find_java(os.environ.get("JAVA_HOME")).path), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    where = ("-cp", ":".join(map(str, class_path)), "-d", folder)
    done = subprocess.run(
        [*java, "-jar", compiler, *OPTIONS, *where, sources], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Problem(f"java/ does not compile:\n{done.stdout}{done.stderr}", hint="Correct it, then run it again.")


def jars() -> tuple[Path, ...]:
    """The compiler, and the jars that the log store is compiled against, fetched if they are not in the cache."""
    from deltaworks.api import cache_folder, spark_edge
    from deltaworks.errors import DeltaworksError
    from deltaworks.spark.home import pyspark_home
    from deltaworks.spark.jars import JarStore, ManagedJar, jars_of
    from deltaworks.spark.java import find_java

    edge, home = spark_edge(os.environ), pyspark_home()
    group, artifact, version, sha256 = COMPILER
    compiler = ManagedJar(group=group, artifact=artifact, version=version, sha256=sha256)
    needed = tuple(jar for jar in jars_of({"delta", "s3"}) if jar.artifact in NEEDED)
    store = JarStore(
        folder=cache_folder(os.environ) / "jars",
        java=find_java(edge.java_home),
        spark_home=home,
        ivy_settings=edge.ivy_settings,
    )
    try:
        return (*store.ensure((compiler, *needed)), *(jar for name in WITH_SPARK for jar in (home / "jars").glob(name)))
    except DeltaworksError as error:
        raise Problem(str(error), hint=error.hint) from error


def pack(folder: Path, manifest: bytes, jar: Path) -> None:
    """Pack the classes: the same bytes on every machine, whenever it is done."""
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_STORED) as packed:
        for name, content in ((MANIFEST, manifest), *_files(folder)):
            entry = zipfile.ZipInfo(name)  # of 1980
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, content)


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*.class")):
        yield path.relative_to(folder).as_posix(), path.read_bytes()


if __name__ == "__main__":
    reporting(main)
