"""Jars that only tests need: fetched once, then kept in the user's cache like all others, so that tests run offline."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from deltaworks.api import cache_folder
from deltaworks.spark.home import pyspark_home
from deltaworks.spark.jars import JarStore, ManagedJar
from deltaworks.spark.java import find_java

if TYPE_CHECKING:
    from pathlib import Path

OLD_DELTA = (
    ManagedJar(
        group="io.delta",
        artifact="delta-spark_2.13",
        version="4.0.0",
        sha256="538511702aae0ef6973a6a70af3d4543c9009f8edbed786a00737e2d3cd7f04e",
    ),
    ManagedJar(
        group="io.delta",
        artifact="delta-storage",
        version="4.0.0",
        sha256="9bdb9fb450f1e119eba53feb427f331b0d09072d26485b8273883ad72c9a2e1d",
    ),
)

S3PROXY = ManagedJar(
    group="org.gaul",
    artifact="s3proxy",
    version="4.1.0",
    classifier="jar-with-dependencies",
    sha256="a4d025969aaf796616ed4b1e2491d87d455ce84bb28cb9db086b2e6aaa68b48d",
)


def kept(jars: tuple[ManagedJar, ...]) -> tuple[Path, ...]:
    """The files of these jars."""
    folder = cache_folder(os.environ) / "test-jars"
    return JarStore(folder=folder, java=find_java(), spark_home=pyspark_home()).ensure(jars)
