"""Pipeline files for tests."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from deltaworks.pipeline.config import PipelineConfig, config_of
from deltaworks.pipeline.document import Document, read_document

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PIPELINE: dict[str, Any] = {
    "pipelineId": "orders",
    "extract": {"sourceType": "File", "connectionParams": {"format": "csv", "path": "in.csv"}},
    "load": {"sinkType": "DeltaLake", "connectionParams": {"path": "out"}},
    "writeMode": "Append",
}

TEXT = """\
pipelineId: orders
extract:
  sourceType: File
  connectionParams:
    format: csv
    path: in.csv
load:
  sinkType: DeltaLake
  connectionParams:
    path: out
writeMode: Append
"""


def pipeline(**changes: Any) -> dict[str, Any]:
    """The pipeline with other values at dotted paths, as `load__connectionParams__path`."""
    whole = copy.deepcopy(PIPELINE)
    for path, value in changes.items():
        *outer, last = path.split("__")
        inner = whole
        for name in outer:
            inner = inner.setdefault(name, {})
        inner[last] = value
    return whole


def saved(folder: Path, text: str | bytes, name: str = "orders.yaml") -> Path:
    """Save text as a file."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def config(values: Mapping[str, Any] = PIPELINE, variables: Mapping[str, str] | None = None) -> PipelineConfig:
    """Check a pipeline that is no file."""
    return config_of(Document(dict(values)), variables or {})


def read(folder: Path, text: str, variables: Mapping[str, str] | None = None) -> PipelineConfig:
    """Check a pipeline that is a file."""
    return config_of(read_document(saved(folder, text)), variables or {})
