from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from tests.unit.tables import append, restore, rewrite

from deltaworks.lake.log import Log
from deltaworks.lake.remains import VacuumedError, require_files

if TYPE_CHECKING:
    from pathlib import Path

ODD = ["a b", "50%", "x/y", "..", "ünï", "two\nlines", None, "?#&=", ":*"]


def check(table: Path, version: int) -> None:
    log = Log(str(table))
    require_files(log, version, log.readable()[-1])


def whole(table: Path) -> list[int]:
    """The versions that can be read, found by reading them."""
    return [version for version in Log(str(table)).readable() if _reads(DeltaTable(table, version=version))]


def _reads(table: DeltaTable) -> bool:
    try:
        return table.to_pyarrow_table() is not None
    except OSError:
        return False


def accepted(table: Path) -> list[int]:
    """The versions we say can be read."""
    return [version for version in Log(str(table)).readable() if _accepted(table, version)]


def _accepted(table: Path, version: int) -> bool:
    try:
        check(table, version)
    except VacuumedError:
        return False
    return True


def vacuum(table: Path) -> None:
    """Remove every file the latest version does not need."""
    DeltaTable(table).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)


def test_all_versions_are_whole_until_vacuum(tmp_path: Path) -> None:
    for _ in range(3):
        append(tmp_path)
    DeltaTable(tmp_path).optimize.compact()

    assert accepted(tmp_path) == whole(tmp_path) == [0, 1, 2, 3]


def test_vacuum_takes_the_versions_before_a_rewrite(tmp_path: Path) -> None:
    for _ in range(3):
        append(tmp_path)
    DeltaTable(tmp_path).optimize.compact()
    append(tmp_path)
    vacuum(tmp_path)

    assert accepted(tmp_path) == whole(tmp_path)
    with pytest.raises(VacuumedError, match=r"Version 1 of .* can no longer be read: vacuum removed 2 of its") as two:
        check(tmp_path, 1)
    with pytest.raises(VacuumedError, match="vacuum removed one of its files"):
        check(tmp_path, 0)
    latest = DeltaTable(tmp_path).version()
    assert two.value.hint == f"Versions 3 to {latest} can be read."


def test_a_version_that_only_has_files_of_the_latest_stays_whole(tmp_path: Path) -> None:
    append(tmp_path, pa.table({"id": [1]}))
    append(tmp_path, pa.table({"id": [2]}))
    DeltaTable(tmp_path).delete("id = 2")
    vacuum(tmp_path)

    assert 0 in accepted(tmp_path)
    assert 1 not in accepted(tmp_path)
    assert accepted(tmp_path) == whole(tmp_path)


def test_files_that_a_restore_brought_back_are_kept(tmp_path: Path) -> None:
    append(tmp_path, pa.table({"id": [1, 2]}))
    DeltaTable(tmp_path).delete("id = 2")
    restore(tmp_path, 0)
    vacuum(tmp_path)

    assert accepted(tmp_path) == whole(tmp_path)
    assert 0 in accepted(tmp_path)


@pytest.mark.parametrize("value", ODD)
def test_files_of_odd_partitions_are_found_and_missed(tmp_path: Path, value: str | None) -> None:
    append(tmp_path, pa.table({"id": [1], "part": pa.array([value], pa.string())}), partition_by=["part"])
    DeltaTable(tmp_path).delete()

    check(tmp_path, 0)
    vacuum(tmp_path)

    with pytest.raises(VacuumedError):
        check(tmp_path, 0)


def vector(text: str) -> dict[str, Any]:
    return {"storageType": "u", "pathOrInlineDv": text, "offset": 1}


def test_a_lost_deletion_vector_is_missed(tmp_path: Path) -> None:
    first, second = vector("n[Cj9Y3s7AX)]EzF60W*"), vector("v6WDuo#]X6YXFXft5#<r")
    append(tmp_path)
    (tmp_path / "a.parquet").touch()
    (tmp_path / "deletion_vector_60b2bcf8-4dc8-4357-bcdc-92e25a733dba.bin").touch()
    rewrite(tmp_path, 1, json.dumps({"add": {"path": "a.parquet"}}))
    replaced = [{"remove": {"path": "a.parquet"}}, {"add": {"path": "a.parquet", "deletionVector": first}}]
    rewrite(tmp_path, 2, "\n".join(json.dumps(action) for action in replaced))
    replaced = [
        {"remove": {"path": "a.parquet", "deletionVector": first}},
        {"add": {"path": "a.parquet", "deletionVector": second}},
    ]
    rewrite(tmp_path, 3, "\n".join(json.dumps(action) for action in replaced))

    assert accepted(tmp_path) == [0, 1, 3]
    (tmp_path / "a.parquet").unlink()
    rewrite(tmp_path, 4, json.dumps({"remove": {"path": "a.parquet", "deletionVector": second}}))
    assert accepted(tmp_path) == [0, 4]
