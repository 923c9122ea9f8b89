"""Which example pipeline shows which key."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltaworks
from deltaworks.lake.model import FileModel
from deltaworks.pipeline.checking import checked
from deltaworks.pipeline.document import read_document
from deltaworks.pipeline.project import ProjectConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER = Path(__file__).parent.parent / "docs" / "examples"
PROJECT = FOLDER / "deltaworks.yaml"


def shortest(model: type[FileModel], key: str) -> Path | None:
    """The shortest example of a key: in this part of the file, or else in one of its kin."""
    uses = _uses()
    found = next((uses[kin, key] for kin in model.__mro__ if (kin, key) in uses), set())
    return min(found, key=lambda path: (path.stat().st_size, path), default=None)


def fullest(model: type[FileModel]) -> Path:
    """The example with the most keys of one part of the file."""
    uses = _uses()
    shown = [path for key in sorted(model.keys()) for path in uses.get((model, key), ())]
    return max(sorted(set(shown)), key=shown.count)


@cache
def _uses() -> Mapping[tuple[type, str], set[Path]]:
    uses = defaultdict(set)
    for path in FOLDER.glob("*.yaml"):
        for part in _parts(_read(path)):
            for kin, key in _given(part):
                uses[kin, key].add(path)
    return dict(uses)


def _read(path: Path) -> FileModel:
    return checked(ProjectConfig, read_document(path)) if path == PROJECT else deltaworks.validate(path, variables={})


def _parts(value: Any) -> Iterator[FileModel]:
    """Every part of a file that the file itself has."""
    if isinstance(value, FileModel):
        yield value
        value = [getattr(value, field) for field in value.model_fields_set]
    elif isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, tuple):
        return
    for inner in value:
        yield from _parts(inner)


def _given(part: FileModel) -> Iterator[tuple[type[FileModel], str]]:
    """The keys that a part has, each for all its kin that know it."""
    for kin in type(part).__mro__:
        fields = kin.model_fields if issubclass(kin, FileModel) else {}
        yield from ((kin, fields[name].alias or name) for name in part.model_fields_set & fields.keys())
