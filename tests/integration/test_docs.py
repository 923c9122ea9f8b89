"""Every example of the reference runs, and every key has one."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tools import docs

import deltaworks
from deltaworks.pipeline.config import PipelineConfig, SparkConfig
from deltaworks.pipeline.document import read_document
from deltaworks.pipeline.project import ProjectConfig
from deltaworks.spark.sinks import AnySink
from deltaworks.spark.sources import AnySource
from deltaworks.spark.transforms import AnyTransform
from deltaworks.spark.transforms.aggregation import Aggregation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from deltaworks.lake.model import FileModel

EXAMPLES = docs.ROOT / "docs" / "examples"
ORDER = (
    *("csv-to-delta", "upsert", "version", "feed", "feed-inserts", "time", "feed-times"),
    *("join", "nested", "pivot", "python", "summary", "window"),
)
NOT_YET = {"incremental"}  # accepted by the format, refused by a run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("docs")
    shutil.copytree(EXAMPLES, found, dirs_exist_ok=True)
    (found / "in").mkdir()
    (found / "in/orders.csv").write_text(
        "id,customer,amount,ordered,note\n1,ann,150.00,2024-01-01,x\n2,bob,20.50,2024-01-02,\n3,cy,,2024-01-02,\n"
    )
    (found / "in/changes.json").write_text(
        '{"id": 1, "customer": "ann", "amount": 1.5, "at": "2024-01-01T00:00:00Z", "cancelled": false}\n'
        '{"id": 2, "customer": "bob", "amount": 2.5, "at": "2024-01-01T00:00:00Z", "cancelled": true}\n'
    )
    (found / "in/customers.json").write_text('{"customer": "ann", "country": "de", "since": "2023-01-01"}\n')
    (found / "in/messages.json").write_text(
        """{"body": "{'id': 1, 'at': '31.12.2024', 'items': ['a', 'b']}", "tags": "{'x': 1}"}\n"""
        """{"body": "{'id': 2", "tags": "none"}\n"""
    )
    return found


def test_every_example_runs_and_lands_rows(spark: SparkSession, folder: Path) -> None:
    vault = deltaworks.MemoryVault({"lake": {"secret": "not needed for a local table"}})
    assert set(ORDER) == {path.stem for path in EXAMPLES.glob("*.yaml")} - {"deltaworks"}

    results = {}
    for name in ORDER:
        made = (folder / "tables/orders").exists()
        when = deltaworks.open_table(folder / "tables/orders").log.times()[0] if made else datetime.now(UTC)
        variables = {"WHEN": when.isoformat()}
        results[name] = deltaworks.run(folder / f"{name}.yaml", spark=spark, vault=vault, variables=variables)

    landed = {name: result.load.rows_inserted for name, result in results.items()}
    assert landed == {"csv-to-delta": 2, "upsert": 1, "version": 2, "feed": 2, "time": 2, "feed-times": 2} | {
        "feed-inserts": 2, "join": 1, "nested": 3, "pivot": 2, "python": 2, "summary": 1, "window": 2
    }  # fmt: skip
    assert all(result.record.is_relative_to(folder / "runs") for result in results.values())


def test_the_python_page_runs_as_it_stands(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spark.range(1, 4).selectExpr("int(id) AS id").write.json(str(tmp_path / "in"))
    pipeline = {
        "pipelineId": "orders",
        "extract": {"sourceType": "File", "path": "in", "connectionParams": {"format": "json"}},
        "load": {"sinkType": "DeltaLake", "path": "tables/orders"},
        "writeMode": "Append",
    }
    Path("orders.yaml").write_text(yaml.safe_dump(pipeline))
    blocks = re.findall(r"```python\n(.*?)```", (docs.ROOT / "docs/python.md").read_text(), re.DOTALL)

    exec("\n".join(blocks), {"spark": spark})

    assert capsys.readouterr().out.startswith("0 3 ")
    assert deltaworks.open_table("tables/copy").rows == 2


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_example_is_explained_by_a_comment(path: Path) -> None:
    assert path.read_text().startswith("# ")


def test_every_key_has_an_example() -> None:
    models: list[type[FileModel]] = [
        PipelineConfig,
        SparkConfig,
        ProjectConfig,
        Aggregation,
        *docs.members(AnySource),
        *docs.members(AnyTransform),
        *docs.members(AnySink),
    ]
    wanted = {key.rpartition(".")[2] for model in models for key in docs.keys(model)}

    used = {key for path in EXAMPLES.glob("*.yaml") for key in _keys(read_document(path).value)}

    assert wanted - used - NOT_YET == set()


def test_the_reference_pages_are_up_to_date() -> None:
    for name, text in docs.pages().items():
        assert (docs.ROOT / "docs/reference" / name).read_text() == text, "run make docs"


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)
