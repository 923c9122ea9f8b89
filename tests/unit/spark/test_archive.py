from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from deltaworks.spark.archive import UNUSED_FOR, Archive, archive_for, prune
from deltaworks.spark.java import Java

JAVA = Java(path=Path("java"), version=17, release="17.0.15")


@pytest.fixture
def made(tmp_path: Path) -> Archive:
    archive = Archive(folder=tmp_path / "key")
    with archive.making() as draft:
        assert draft is not None
        draft.write_bytes(b"classes")
        archive.keep(draft)
    return archive


def test_a_missing_archive_asks_nothing_of_the_jvm(tmp_path: Path) -> None:
    assert Archive(folder=tmp_path / "none").options() == ()


def test_a_finished_archive_is_used(made: Archive) -> None:
    assert f"-XX:SharedArchiveFile={made.path}" in made.options()


def test_an_archive_that_was_cut_short_is_deleted_and_ignored(made: Archive) -> None:
    made.path.write_bytes(b"class")

    assert made.options() == ()
    assert not made.folder.exists()


def test_an_archive_without_its_note_is_deleted_and_ignored(made: Archive) -> None:
    (made.folder / "note.json").unlink()

    assert made.options() == ()
    assert not made.folder.exists()


def die_making(archive: Archive) -> None:
    with archive.making() as draft:
        assert draft is not None
        draft.write_bytes(b"half")
        raise RuntimeError


def test_a_maker_that_dies_leaves_no_archive(tmp_path: Path) -> None:
    archive = Archive(folder=tmp_path / "key")

    with pytest.raises(RuntimeError):
        die_making(archive)

    assert not archive.ready()
    assert not list(tmp_path.glob("*.draft"))


def test_a_new_archive_takes_the_place_of_an_old_one(made: Archive) -> None:
    with made.making() as draft:
        assert draft is not None
        draft.write_bytes(b"more classes")
        made.keep(draft)

    assert made.ready()
    assert made.path.read_bytes() == b"more classes"


def test_only_one_process_makes_an_archive(tmp_path: Path) -> None:
    archive = Archive(folder=tmp_path / "key")

    with archive.making() as first, archive.making() as second:
        assert first is not None
        assert second is None


def test_an_archive_is_wanted_until_it_is_made_or_in_the_making(tmp_path: Path) -> None:
    archive = Archive(folder=tmp_path / "new" / "key")

    assert archive.wanted()
    with archive.making() as draft:
        assert draft is not None
        assert not archive.wanted()
        draft.write_bytes(b"classes")
        archive.keep(draft)
    assert not archive.wanted()


def test_another_java_or_another_jar_has_another_archive(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"1")
    first = archive_for(tmp_path, JAVA, (jar,))
    newer = archive_for(tmp_path, Java(path=Path("java"), version=21, release="21.0.2"), (jar,))
    jar.write_bytes(b"22")
    changed = archive_for(tmp_path, JAVA, (jar,))

    assert len({first.folder, newer.folder, changed.folder}) == 3


def test_archives_nobody_uses_are_deleted(made: Archive) -> None:
    long_ago = time.time() - UNUSED_FOR.total_seconds() - 1
    os.utime((made.folder / "note.json"), (long_ago, long_ago))

    prune(made.folder.parent)

    assert not made.folder.exists()


def test_using_an_archive_keeps_it(made: Archive) -> None:
    long_ago = time.time() - UNUSED_FOR.total_seconds() - 1
    os.utime((made.folder / "note.json"), (long_ago, long_ago))
    made.options()

    prune(made.folder.parent)

    assert made.folder.exists()
