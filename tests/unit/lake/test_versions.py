from __future__ import annotations

import pytest

from deltaworks.lake.versions import told


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ([7], "version 7"),
        (range(3, 8), "versions 3 to 7"),
        ([2, 3, 6, 7, 8], "versions 2 to 3 and 6 to 8"),
        ([1, 4], "versions 1 and 4"),
    ],
)
def test_versions_are_told_as_people_say_them(versions: list[int], expected: str) -> None:
    assert told(versions) == expected
