from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from deltaworks.errors import ConfigError
from deltaworks.spark.conf import DELTA_EXTENSION, EXTENSIONS, IDEMPOTENCE_CHECK, for_submit, to_conf
from deltaworks.spark.jvm import AVRO_LIMITS
from deltaworks.spark.logstore import CONDITIONAL_PUT, FILE_MANAGER, WHOLE_FILES
from deltaworks.spark.settings import SparkSettings


def conf(cores: int = 4, *, own: dict[str, str] | None = None, **settings: Any) -> dict[str, str]:
    return to_conf(SparkSettings(cache=Path("cache"), conf=own or {}, **settings), cores=cores)


@pytest.mark.parametrize("master", ["local[*]", "spark://host:7077", "yarn", "sc://host"])
def test_a_lost_acknowledgement_is_always_checked(master: str) -> None:
    assert conf(master=master)[IDEMPOTENCE_CHECK] == "true"


@pytest.mark.parametrize(
    "key",
    [
        IDEMPOTENCE_CHECK,
        "spark.databricks.delta.commitInfo.userMetadata",
        "spark.databricks.delta.commitInfo.enabled",
        "spark.databricks.delta.write.txnAppId",
        "spark.databricks.delta.write.txnVersion",
        "spark.databricks.delta.write.txnVersion.autoReset.enabled",
        "spark.databricks.delta.schema.autoMerge.enabled",
        "spark.databricks.delta.optimizeWrite.enabled",
        "spark.databricks.delta.properties.defaults.setTransactionRetentionDuration",
        "spark.delta.logStore.s3a.impl",
        "spark.sql.files.ignoreMissingFiles",
        "spark.sql.files.ignoreCorruptFiles",
        "spark.hadoop.fs.s3.impl",
        "spark.sql.catalog.spark_catalog",
        "spark.master",
    ],
)
def test_what_exactly_once_relies_on_cannot_be_set(key: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(key)) as refused:
        conf(own={key: "x"})
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("master", ["local[*]", "spark://host:7077", "yarn"])
def test_executors_have_limits_for_avro_and_the_options_of_the_user_count_more(master: str) -> None:
    name = "spark.executor.extraJavaOptions"
    limit = "-Dorg.apache.avro.limits.string.maxLength="
    both = conf(master=master, own={name: f"-Da=b {limit}7"})[name]

    assert conf(master=master)[name].split() == list(AVRO_LIMITS)
    assert both.startswith(limit)
    assert both.endswith(f" -Da=b {limit}7")
    assert name not in conf(master="sc://host")


@pytest.mark.parametrize("scheme", ["s3a", "s3"])
def test_tables_on_s3_are_safe_for_several_writers(scheme: str) -> None:
    for master in ("local[*]", "spark://host:7077", "yarn"):
        assert conf(master=master)[f"spark.delta.logStore.{scheme}.impl"] == CONDITIONAL_PUT


def test_only_sessions_for_s3_are_told_of_files_without_renames() -> None:
    assert conf(groups=frozenset({"delta", "s3"}))[FILE_MANAGER] == WHOLE_FILES
    assert conf(jars="provided")[FILE_MANAGER] == WHOLE_FILES
    assert FILE_MANAGER not in conf()


def test_other_catalogs_stay_free() -> None:
    own = {"spark.sql.catalog.lake": "org.example.Catalog"}

    assert conf(own=own)["spark.sql.catalog.lake"] == "org.example.Catalog"


def test_the_users_extensions_come_after_deltas() -> None:
    extensions = conf(own={EXTENSIONS: f"a.B, {DELTA_EXTENSION},c.D"})[EXTENSIONS]

    assert extensions == f"{DELTA_EXTENSION},a.B,c.D"


@pytest.mark.parametrize(
    "key", ["spark.sql.session.timeZone", "spark.ui.enabled", "spark.sql.shuffle.partitions", "spark.app.name"]
)
def test_a_default_gives_way_to_the_user(key: str) -> None:
    assert conf()[key] != "mine"
    assert conf(own={key: "mine"})[key] == "mine"


def test_nothing_is_left_in_the_working_folder() -> None:
    assert conf()["spark.sql.warehouse.dir"] == "cache/warehouse"


def test_a_local_session_listens_to_this_machine_only() -> None:
    assert conf()["spark.driver.bindAddress"] == "127.0.0.1"
    assert "spark.driver.bindAddress" not in conf(master="spark://host:7077")


def test_writes_are_not_rearranged_for_a_whole_session() -> None:
    assert not [key for key in conf() if "optimizeWrite" in key or "autoCompact" in key or "autoMerge" in key]


def test_a_connect_session_gets_only_what_a_session_can_set() -> None:
    servers = (
        "spark.delta.",
        "spark.hadoop.",
        "spark.driver",
        "spark.ui",
        "spark.master",
        EXTENSIONS,
        "spark.sql.catalog.",
    )

    assert not [key for key in conf(master="sc://host") if key.startswith(servers)]


@pytest.mark.parametrize(
    "key",
    [
        "spark.hadoop.fs.s3a.bucket.b.access.key",
        "spark.hadoop.fs.s3a.secret.key",
        "spark.hadoop.fs.azure.account.key.x.dfs.core.windows.net",
        "kafka.sasl.jaas.config",
        "spark.hadoop.fs.azure.sas.fixed.token.x",
        "spark.kubernetes.authenticate.oauthToken",
        "my.passwd",
    ],
)
def test_keys_that_hold_secrets_are_redacted(key: str) -> None:
    assert re.search(conf()["spark.redaction.regex"], key)


@pytest.mark.parametrize("key", ["spark.sql.shuffle.partitions", "spark.databricks.delta.snapshotPartitions"])
def test_keys_that_hold_no_secret_stay_readable(key: str) -> None:
    assert not re.search(conf()["spark.redaction.regex"], key)


@pytest.mark.parametrize(
    "text",
    [
        "OPTIONS (password 'hunter2', user 'me')",
        "jdbc:postgresql://h/d?user=me&password=hunter2",
        "`fs.s3a.secret.key`='hunter2'",
        "apiKey: hunter2, x: 1",
        'sasl.jaas.config="user hunter2"',
    ],
)
def test_a_secret_inside_text_is_redacted(text: str) -> None:
    assert "hunter2" not in re.sub(conf()["spark.redaction.string.regex"], "*", text)


def test_ordinary_sql_is_left_alone() -> None:
    sql = "SELECT id, name FROM orders WHERE amount > 5"

    assert re.sub(conf()["spark.redaction.string.regex"], "*", sql) == sql


def test_no_secret_stands_on_the_command_line() -> None:
    own = {"spark.hadoop.fs.s3a.secret.key": "s", "spark.kubernetes.authenticate.oauthToken": "t"}
    shown = for_submit(conf(own={**own, "spark.driver.memory": "2g"}, master="yarn"))

    assert shown["spark.driver.memory"] == "2g"
    assert not set(own) & set(shown)
