from __future__ import annotations

from deltaworks.lake.after import After


def test_nothing_is_done_unless_asked() -> None:
    assert not After().wanted
    assert After(optimize=True).wanted
    assert After.model_validate({"vacuumRetentionHours": "0"}).wanted
