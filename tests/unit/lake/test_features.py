from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.unit.tables import append

from deltaworks.errors import ConfigError
from deltaworks.lake.features import require_writable
from deltaworks.lake.table import open_table

if TYPE_CHECKING:
    from pathlib import Path


def asking(folder: Path, writer: int, features: list[str]) -> None:
    append(folder)
    log = folder / "_delta_log/00000000000000000000.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    named = {"writerFeatures": features} if features else {}
    for action in actions:
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 1, "minWriterVersion": writer, **named}
    log.write_text("\n".join(map(json.dumps, actions)) + "\n")


@pytest.mark.parametrize(("writer", "features"), [(2, []), (7, ["appendOnly", "clustering", "domainMetadata"])])
def test_a_table_that_asks_for_what_we_can_do_is_fine(tmp_path: Path, writer: int, features: list[str]) -> None:
    asking(tmp_path, writer, features)

    require_writable(open_table(tmp_path))


@pytest.mark.parametrize("feature", ["timeMachine", "coordinatedCommits-preview"])
def test_a_table_that_asks_for_more_is_refused_by_name(tmp_path: Path, feature: str) -> None:
    asking(tmp_path, 7, ["appendOnly", feature])

    with pytest.raises(ConfigError, match=f"asks its writers for {feature}, which"):
        require_writable(open_table(tmp_path))


def test_a_protocol_from_the_future_is_refused(tmp_path: Path) -> None:
    asking(tmp_path, 8, [])

    with pytest.raises(ConfigError, match="asks its writers for writer version 8"):
        require_writable(open_table(tmp_path))
