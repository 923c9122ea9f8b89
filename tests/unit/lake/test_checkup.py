from __future__ import annotations

from deltaworks.lake.checkup import Checkup
from deltaworks.vault.storage import Access


def test_storage_that_keeps_writers_apart_by_itself_needs_no_conditional_put() -> None:
    checkup = Checkup.of("memory:///lake", Access())

    assert checkup.write() == "an object could be written"
    assert checkup.read() == "the object could be read"
    assert checkup.conditional_put().startswith("not needed")
    assert checkup.delete() == "the object could be deleted"
    assert checkup.list() == "memory:///lake can be listed; it holds nothing"
