from __future__ import annotations

import deltaworks


def test_write_modes_are_spelled_as_files_spell_them() -> None:
    assert [str(mode) for mode in deltaworks.WriteMode] == ["Append", "Overwrite", "Upsert"]
