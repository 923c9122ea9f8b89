"""How even a share must be."""

from __future__ import annotations

import pytest

from deltaworks.spark.databases.sharing import heaviest


@pytest.mark.parametrize(("parts", "most"), [(2, 0.6), (3, 0.6), (4, 0.5), (64, 1 / 32)])
def test_no_part_may_have_more_than_twice_its_share(parts: int, most: float) -> None:
    assert heaviest(parts) == pytest.approx(most)
