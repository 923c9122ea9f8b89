"""What killed runs leave among the temporary files: checkpoints of Spark's, which nobody may go by."""

from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING

from tests.torture.matrix import over

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.torture.case import Case


def spoil(checkpoint: Path, fault: str) -> None:
    files = sorted(path for path in checkpoint.rglob("*") if path.is_file())
    match fault:
        case "is gone":
            shutil.rmtree(checkpoint)
        case "lacks its last commit":
            max((checkpoint / "commits").glob("[0-9]*"), key=lambda path: int(path.name)).unlink()
        case "is damaged":
            for path in files:
                path.write_bytes(path.read_bytes()[:10])


@over("is gone", thorough=("lacks its last commit", "is damaged"), quick=1, sources=("kafka", "feed"), turn=1)
def test_whatever_becomes_of_a_checkpoint_the_table_says_where_to_go_on(
    case: Case, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = case.folder / "temporary"
    temporary.mkdir()
    case.begun()
    case.killed_at("after_commit", TMPDIR=str(temporary))
    (checkpoint,) = temporary.glob("deltaworks-*/checkpoint")
    spoil(checkpoint, fault)

    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    assert case.run().load.batches == 0
    case.more()
    case.run()

    case.judge(f"checkpoint that {fault}")
