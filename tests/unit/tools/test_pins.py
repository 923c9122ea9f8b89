from __future__ import annotations

from typing import TYPE_CHECKING

from tools import pins

if TYPE_CHECKING:
    from pathlib import Path


def test_dependencies_include_every_extra(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[project]\ndependencies = ['rich>=14']\n[project.optional-dependencies]\nspark = ['pyspark']\ndev = ['mypy']\n"
    )

    assert pins.dependencies(tmp_path / "pyproject.toml") == ["rich>=14", "pyspark", "mypy"]


def test_pins_are_sorted_and_spelled_one_way() -> None:
    chosen = [{"name": "PyYAML", "version": "6.0.3"}, {"name": "importlib_metadata", "version": "8.7.1"}]

    assert pins.pins({"install": [{"metadata": found} for found in chosen]}) == [
        "importlib-metadata==8.7.1",
        "pyyaml==6.0.3",
    ]
