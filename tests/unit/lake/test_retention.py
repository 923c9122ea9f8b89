from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.tables import append

from deltaworks.errors import RefusedError
from deltaworks.lake.retention import FORGETS_MARKS, require_marks_kept
from deltaworks.lake.table import open_table

if TYPE_CHECKING:
    from pathlib import Path


def test_a_table_that_keeps_its_marks_is_fine(tmp_path: Path) -> None:
    append(tmp_path)

    require_marks_kept(open_table(tmp_path))


def test_a_table_that_forgets_its_marks_is_refused_with_what_to_do(tmp_path: Path) -> None:
    append(tmp_path, properties={FORGETS_MARKS: "interval 1 days"})

    with pytest.raises(RefusedError, match="forgets which loads have landed after interval 1 days") as caught:
        require_marks_kept(open_table(tmp_path), otherwise="Run without --key, or ")

    assert caught.value.hint.startswith("Run without --key, or ALTER TABLE")
    assert FORGETS_MARKS in caught.value.hint
