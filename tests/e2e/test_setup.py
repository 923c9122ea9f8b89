"""What the machine lacks is said in two lines, with exit code 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.commands import csv_pipeline, deltaworks

if TYPE_CHECKING:
    from pathlib import Path


def test_a_missing_java_is_one_clear_error(tmp_path: Path) -> None:
    csv_pipeline(tmp_path)

    done = deltaworks("run", "orders.json", "-q", cwd=tmp_path, JAVA_HOME=str(tmp_path / "nowhere"))

    assert done.returncode == 3
    error, hint, *_ = done.stderr.splitlines()
    assert error.startswith("Error: There is no Java in JAVA_HOME")
    assert "Install Java 17 or newer" in hint


def test_a_conf_that_exactly_once_needs_cannot_be_changed(tmp_path: Path) -> None:
    csv_pipeline(tmp_path)
    conf = "spark.databricks.delta.commit.idempotencyCheck.enabled=false"

    done = deltaworks("run", "orders.json", "-q", "--conf", conf, cwd=tmp_path)

    assert done.returncode == 2
    assert "cannot be set" in done.stderr
    assert not (tmp_path / "tables").exists()
