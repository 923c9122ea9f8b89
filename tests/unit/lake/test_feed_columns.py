from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.tables import append, rewrite

from deltaworks.lake.feed_columns import ColumnsChangedError, require_columns
from deltaworks.lake.log import Log

if TYPE_CHECKING:
    from pathlib import Path

MAPPED = {"delta.columnMapping.mode": "name"}
REMOVE = {"remove": {"path": "a.parquet", "dataChange": True}}
NOTHING: dict[str, Any] = {"commitInfo": {}}


def field(name: str, kind: Any, **metadata: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": True, "metadata": metadata}


def struct(**fields: Any) -> dict[str, Any]:
    return {"type": "struct", "fields": [field(name, kind) for name, kind in fields.items()]}


def columns(*fields: dict[str, Any], mapped: bool = False, **kinds: Any) -> dict[str, Any]:
    schema = struct(**kinds)
    schema["fields"] += fields
    return {"metaData": {"schemaString": json.dumps(schema), "configuration": MAPPED if mapped else {}}}


def table(path: Path, *commits: list[dict[str, Any]]) -> Log:
    append(path)
    for version, actions in enumerate(commits):
        rewrite(path, version, "\n".join(json.dumps(action) for action in actions))
    return Log(str(path))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (columns(a="long"), columns(a="long", b="string")),
        (columns(a=struct(x="long")), columns(a=struct(x="long", y="long"))),
        (
            columns(a={"type": "array", "elementType": struct(x="long"), "containsNull": True}),
            columns(a={"type": "array", "elementType": struct(x="long", y="long"), "containsNull": True}),
        ),
        (columns(a="integer"), columns(field("a", "long", **{"delta.typeChanges": [{"toType": "long"}]}))),
        (columns(a="integer"), columns(a="integer", mapped=True)),
    ],
)
def test_columns_that_came_or_were_widened_do_no_harm(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any]
) -> None:
    log = table(tmp_path, [before], [NOTHING], [after], [NOTHING])

    require_columns(log, 0, 1, 3)
    require_columns(log, 0, 3, 3)


@pytest.mark.parametrize(
    ("before", "after", "column"),
    [
        (columns(a="long", b="long"), columns(a="long"), "b"),
        (columns(a="long"), columns(c="long"), "a"),
        (columns(a=struct(x="long")), columns(a=struct(y="long")), "a.x"),
        (
            columns(a={"type": "map", "keyType": "string", "valueType": "long"}),
            columns(a={"type": "map", "keyType": "string", "valueType": "string"}),
            "a.value",
        ),
    ],
)
def test_columns_that_are_not_what_they_were_are_named(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any], column: str
) -> None:
    log = table(tmp_path, [before], [NOTHING], [after], [NOTHING])

    with pytest.raises(ColumnsChangedError, match=f"at version 0: column '{column}' was renamed, dropped") as caught:
        require_columns(log, 0, 3, 3)

    assert caught.value.hint == "Versions 2 to 3 can be read."
    require_columns(log, 2, 3, 3)


def test_without_mapping_the_columns_of_the_latest_version_count(tmp_path: Path) -> None:
    log = table(tmp_path, [columns(a="long")], [NOTHING], [columns(b="long")], [NOTHING])

    with pytest.raises(ColumnsChangedError):
        require_columns(log, 0, 1, 3)


def test_with_mapping_the_columns_of_the_end_count(tmp_path: Path) -> None:
    log = table(tmp_path, [columns(a="long", mapped=True)], [NOTHING], [columns(b="long", mapped=True)], [NOTHING])

    require_columns(log, 0, 1, 3)
    require_columns(log, 2, 3, 3)
    with pytest.raises(ColumnsChangedError):
        require_columns(log, 1, 2, 3)


def test_rows_that_went_while_a_type_changed_cannot_be_read(tmp_path: Path) -> None:
    log = table(tmp_path, [columns(a="long")], [columns(a="string"), REMOVE], [NOTHING])

    with pytest.raises(ColumnsChangedError, match="at version 1") as caught:
        require_columns(log, 1, 2, 2)

    assert caught.value.hint == "Version 2 can be read."
    require_columns(log, 2, 2, 2)


def test_rows_that_went_while_a_column_was_dropped_can_be_read(tmp_path: Path) -> None:
    log = table(tmp_path, [columns(a="long", b="long")], [columns(a="long"), REMOVE])

    require_columns(log, 1, 1, 1)


def test_where_no_version_is_left_the_table_itself_is(tmp_path: Path) -> None:
    log = table(tmp_path, [columns(a="long")], [columns(a="string"), REMOVE])

    with pytest.raises(ColumnsChangedError) as caught:
        require_columns(log, 0, 1, 1)

    assert caught.value.hint == "Read the table itself."


def test_columns_that_came_back_do_no_harm_to_versions_that_had_them(tmp_path: Path) -> None:
    log = table(tmp_path, [columns(a="long")], [columns(a="string")], [columns(a="long")])

    require_columns(log, 0, 0, 2)
    with pytest.raises(ColumnsChangedError, match="at version 1"):
        require_columns(log, 0, 1, 2)
