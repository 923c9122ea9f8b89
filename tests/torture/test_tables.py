"""Tables that others restore, make anew, compact, or teach to forget, while a pipeline writes them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from deltaworks.lake.retention import FORGETS_MARKS
from tests.integration.increments import changed, meanwhile
from tests.torture.matrix import over

if TYPE_CHECKING:
    import pytest

    from tests.torture.case import Case


def do(case: Case, statement: str) -> None:
    changed(case.spark, case.folder / "out", statement)


@over("between two runs", "during a run")
def test_rows_that_a_restore_took_back_land_again_once_the_position_is_rewound(
    case: Case, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.begun()
    if fault == "between two runs":
        case.run()
        do(case, "RESTORE TABLE it TO VERSION AS OF 0")
    else:  # the rows of the batch on its way follow the RESTORE; the notes it was decided on are older
        case.run()
        case.more()
        meanwhile(monkeypatch, "before_commit", lambda: do(case, "RESTORE TABLE it TO VERSION AS OF 0"))
        case.run()

    case.fails("state rewind")
    case.state("rewind", "--to-version", "0")
    if fault == "during a run" and case.mode == "Append":
        do(case, "RESTORE TABLE it TO VERSION AS OF 0")  # the batch that came after it would be there twice
        case.state("rewind", "--to-version", "0")
    case.run()

    case.judge(f"RESTORE {fault}")


@over("dropped", "replaced", thorough=("dropped during a run", "replaced during a run"))
def test_a_table_that_was_made_anew_is_refused_and_loaded_anew(
    case: Case, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.more()
    case.run()
    case.more()

    def make_anew() -> None:
        if fault.startswith("dropped"):
            shutil.rmtree(case.folder / "out" / "_delta_log")
        else:
            parts = "PARTITIONED BY (batch) " if case.mode == "Overwrite" else ""
            do(case, f"REPLACE TABLE it USING delta {parts}LOCATION '{case.target}' AS SELECT * FROM it LIMIT 0")

    if fault.endswith("during a run"):
        meanwhile(monkeypatch, "before_batch", make_anew)
    else:
        make_anew()
    case.fails("--full-refresh")
    case.run(full_refresh=True)
    case.more()
    case.run()

    case.judge(f"table {fault}")


@over("forgets marks")
def test_a_table_that_forgets_marks_is_refused_until_it_remembers(case: Case, fault: str) -> None:
    case.begun()
    do(case, f"ALTER TABLE it SET TBLPROPERTIES ('{FORGETS_MARKS}' = 'interval 1 hours')")
    case.fails("forgets which loads have landed")
    do(case, f"ALTER TABLE it UNSET TBLPROPERTIES ('{FORGETS_MARKS}')")

    case.run()

    case.judge(f"table that {fault}")


@over("compacted")
def test_a_table_that_is_compacted_meanwhile_gets_its_rows_once(
    case: Case, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.begun()
    case.run()
    case.more()
    meanwhile(monkeypatch, "before_commit", lambda: do(case, "OPTIMIZE it"))

    case.run()

    case.judge(f"{fault} meanwhile")
