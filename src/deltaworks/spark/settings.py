"""What a Spark session is asked to be, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# With any of these only spark-submit knows what to do before the driver starts.
SUBMIT_KEYS = ("spark.jars", "spark.submit.", "spark.files", "spark.archives", "spark.kerberos.", "spark.yarn.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkSettings:
    """Where Spark runs, with which jars and which configuration."""

    cache: Path
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)
    jars: Literal["managed", "provided"] = "managed"
    groups: frozenset[str] = frozenset({"delta"})
    app_name: str = "deltaworks"
    java_home: str | None = None
    ivy_settings: Path | None = None
    log: Path | None = None  # Spark's own warnings and errors go here, else nowhere

    @property
    def local(self) -> bool:
        """True when driver and executors are one JVM on this machine."""
        return self.master.startswith("local")

    @property
    def remote(self) -> bool:
        """True when the session lives on a Spark Connect server."""
        return self.master.startswith("sc://")

    @property
    def direct(self) -> bool:
        """True when the driver's JVM can be started without spark-submit, which costs a second JVM and two shells."""
        simple = self.local or self.master.startswith("spark://")
        return simple and self.jars == "managed" and not any(key.startswith(SUBMIT_KEYS) for key in self.conf)

    def with_jars_of(self, other: Self) -> Self:
        """These settings and the jars of others, where that is all they differ in: one session can serve both."""
        same = replace(other, groups=self.groups) == self
        return replace(self, groups=self.groups | other.groups) if same else self
