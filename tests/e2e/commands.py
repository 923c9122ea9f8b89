"""The command line, started as a person would start it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = (sys.executable, "-m", "deltaworks.cli.main")
LIMIT = 300  # seconds


def deltaworks(*words: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*COMMAND, *words],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def started(*words: str, cwd: Path, **variables: str) -> subprocess.Popen[str]:
    """Start a command and go on."""
    return subprocess.Popen(
        [*COMMAND, *words],
        cwd=cwd,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def csv_pipeline(folder: Path, name: str = "orders", **changes: Any) -> Path:
    """A pipeline file from `NAME.csv` to the Delta table `tables/NAME`, with ten rows to load."""
    (folder / f"{name}.csv").write_text("id,amount\n" + "".join(f"{number},{number}0\n" for number in range(10)))
    pipeline = {
        "pipelineId": name,
        "extract": {
            "sourceType": "File",
            "connectionParams": {"format": "csv", "path": f"{name}.csv"},
            "options": {"header": True},
        },
        "transform": [{"type": "cast", "parameters": {"columns": {"id": "int", "amount": "int"}}}],
        "load": {"sinkType": "DeltaLake", "connectionParams": {"path": f"tables/{name}"}},
        "writeMode": "Append",
        "spark": {
            "conf": {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
        },  # a run this small is done soon
        **changes,
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(pipeline, indent=2))
    return path
