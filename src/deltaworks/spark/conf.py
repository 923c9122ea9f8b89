"""Which Spark configuration a session gets: what exactly-once needs, our defaults, and the user's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.spark.jvm import AVRO_LIMITS
from deltaworks.spark.logstore import FILE_MANAGER, FILE_SYSTEM, WHOLE_FILES, log_store_conf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaworks.spark.settings import SparkSettings

IDEMPOTENCE_CHECK = "spark.databricks.delta.commit.idempotencyCheck.enabled"
EXTENSIONS = "spark.sql.extensions"
EXECUTORS = "spark.executor.extraJavaOptions"
CATALOG = "spark.sql.catalog.spark_catalog"
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
OPENED_BY_US = "spark.deltaworks.opened"
MARKED_APPEND = "spark.deltaworks.markedAppend"  # the format by which a session appends where a mark travels along

# What a commit carries; a session must never bring its own.
STAMPS = (
    "spark.databricks.delta.commitInfo.userMetadata",
    "spark.databricks.delta.write.txnAppId",
    "spark.databricks.delta.write.txnVersion",
)

# A key that ends in a dot stands for all keys below it.
_RESERVED = {
    IDEMPOTENCE_CHECK: "without it a lost reply from storage doubles or hides a commit",
    "spark.databricks.delta.commitInfo.enabled": "positions and run ids live in the commit's info",
    "spark.databricks.delta.commitInfo.userMetadata": "it holds the run and its position",
    "spark.databricks.delta.write.txnAppId": "it is the mark that makes a replay harmless",
    "spark.databricks.delta.write.txnVersion": "it is the mark that makes a replay harmless",
    "spark.databricks.delta.write.txnVersion.": "it is the mark that makes a replay harmless",
    "spark.databricks.delta.properties.defaults.setTransactionRetentionDuration": "a table that forgets its marks "
    "doubles replayed rows",
    "spark.databricks.delta.schema.autoMerge.enabled": "say `mergeSchema` in the load that wants it",
    "spark.databricks.delta.optimizeWrite.enabled": "say `optimizeWrite` in the load that wants it",
    "spark.databricks.delta.autoCompact.enabled": "say `autoCompact` in the load that wants it",
    "spark.sql.files.ignoreMissingFiles": "rows of files that are gone would be lost without a word",
    "spark.sql.files.ignoreCorruptFiles": "rows of files that cannot be read would be lost without a word",
    "spark.delta.logStore.": "the log store decides whether several writers are safe",
    FILE_SYSTEM: "the log store commits through S3A, on `s3://` as on `s3a://`",
    CATALOG: "tables are read and written through Delta's own catalog",
    "spark.master": "say `master` instead",
    "spark.remote": "say `master: sc://…` instead",
    "spark.api.mode": "say `master: sc://…` for Spark Connect",
    OPENED_BY_US: "it tells our own sessions from yours",
    MARKED_APPEND: "it tells our own sessions from yours",
}

# Spark's default, and what it does not know: cloud keys, SASL and JDBC logins, connection strings.
_KEYS_TO_HIDE = (
    "(?i)secret|passw(or)?d|passphrase|token|access[._-]?key|account[._-]?key|api[._-]?key|private[._-]?key"
    "|credential|sasl[.]jaas|keystore[.]key|[.]sas[.]|encryption[.]key|auth[.]user|signature"
)
# The same inside longer text, such as SQL: the name, and everything up to the next separator.
_TEXT_TO_HIDE = (
    r"(?i)(secret|passw(or)?d|passphrase|token|(access|account|api|private)[._-]?key|credential|sasl[.]jaas[.]config)"
    r"\w*['\"`]?\s*(=>|[=:,])?\s*('[^']*'|\"[^\"]*\"|[^\s,;&)\]}]+)"
)

_EARLY = "master app.name driver. jars files archives submit. pyspark. yarn. kubernetes. kerberos. log4j"


def to_conf(settings: SparkSettings, *, cores: int) -> dict[str, str]:
    """Spell the settings as one Spark configuration; refuse a key that exactly-once relies on."""
    for key in settings.conf:
        _require_free(key)
    conf = {**_defaults(settings, cores), **settings.conf, **_fixed(settings)}
    return conf if settings.remote else {**conf, **_joined(settings.conf)}


def _joined(theirs: Mapping[str, str]) -> dict[str, str]:
    """What the user's words are added to, and do not replace."""
    executors = " ".join([*AVRO_LIMITS, theirs.get(EXECUTORS, "")]).strip()  # of two of one name the last counts
    return {EXTENSIONS: _extensions(theirs.get(EXTENSIONS, "")), EXECUTORS: executors}


def _extensions(theirs: str) -> str:
    names = (name.strip() for name in f"{DELTA_EXTENSION},{theirs}".split(","))
    return ",".join(dict.fromkeys(filter(None, names)))


def for_submit(conf: Mapping[str, str]) -> dict[str, str]:
    """Keep what spark-submit must know before the driver starts; a secret must not stand on a command line."""
    early = tuple(f"spark.{name}" for name in _EARLY.split())
    return {key: value for key, value in conf.items() if key.startswith(early) and not re.search(_KEYS_TO_HIDE, key)}


def _require_free(key: str) -> None:
    for reserved, why in _RESERVED.items():
        if key == reserved or (reserved.endswith(".") and key.startswith(reserved)):
            raise ConfigError(f"{key!r} cannot be set: {why}.", hint="Take it out of `spark.conf`.")


def _fixed(settings: SparkSettings) -> Mapping[str, str]:
    fixed = {IDEMPOTENCE_CHECK: "true", OPENED_BY_US: "true"}
    # Whether a Connect server has Delta in it was decided when it was started.
    if settings.remote:
        return fixed
    # Only a session for S3 loads a class of ours: what all sessions load must stand before the jars that differ, or
    # the archive of classes that one of them made does not fit the next.
    s3 = {FILE_MANAGER: WHOLE_FILES} if "s3" in settings.groups or settings.jars == "provided" else {}
    # It knows one version of Delta from the inside: the one whose jars we fetch.
    quick = {} if settings.jars == "provided" else {MARKED_APPEND: "io.deltaworks.delta.MarkedAppend"}
    return {**fixed, **log_store_conf(), **s3, **quick, CATALOG: DELTA_CATALOG, "spark.master": settings.master}


def _defaults(settings: SparkSettings, cores: int) -> Mapping[str, str]:
    session = {"spark.sql.session.timeZone": "UTC", "spark.sql.redaction.string.regex": _TEXT_TO_HIDE}
    if settings.remote:
        return session
    driver = {
        **session,
        "spark.app.name": settings.app_name,
        "spark.redaction.regex": _KEYS_TO_HIDE,
        "spark.redaction.string.regex": _TEXT_TO_HIDE,
        "spark.ui.showConsoleProgress": "false",
        # Spark's own default lies in the working folder and appears there with the first statement.
        # The catalog stays Spark's in-memory one: a metastore is a server that only its owner can name.
        "spark.sql.warehouse.dir": str(settings.cache / "warehouse"),
        # Python call sites in errors would point into our own code, at the price of a round trip per expression.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
    }
    return {**driver, **_local(cores)} if settings.local else driver


_SMALL = "16m"  # as it is shuffled; about a hundred megabytes in memory, for each core


def _local(cores: int) -> Mapping[str, str]:
    return {
        "spark.ui.enabled": "false",
        # Loopback only: nothing outside this machine can or need talk to a local session.
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
        # The defaults, 200 and 50, are for clusters: here they are mostly the cost of starting tasks.
        "spark.sql.shuffle.partitions": str(4 * cores),
        "spark.databricks.delta.snapshotPartitions": str(min(cores, 2)),
        # A join whose smaller side is small in every partition looks keys up instead of sorting both sides.
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": _SMALL,
        "spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": _SMALL,
    }
