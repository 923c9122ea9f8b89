from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deltaworks.errors import ConfigError, RefusedError, RunError
from deltaworks.lake.folder import folder_at
from deltaworks.spark.sinks.files_replace import replace_local, replace_remote

if TYPE_CHECKING:
    from collections.abc import Callable

RUN = "20240101T000000-0123abcd"
OLD_RUN = "20200101T000000-0123abcd"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that a load has written, and an empty one above it."""
    put(tmp_path / "out", "part-0-old", "day=1/part-1-old", "_SUCCESS", ".part-0-old.crc")
    return tmp_path / "out"


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def there(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def writing(*names: str, error: bool = False) -> Callable[[str], None]:
    def write(folder: str) -> None:
        put(Path(folder), *names)
        if error:
            raise RunError("boom", hint="none")

    return write


NEW = ("part-0-new", "day=2/part-1-new", "_SUCCESS")


def test_a_folder_is_replaced_whole(out: Path) -> None:
    replace_local(out, RUN, writing(*NEW))

    assert there(out.parent) == sorted(f"out/{name}" for name in NEW)


def test_new_files_are_written_before_old_ones_go(out: Path) -> None:
    replace_remote(folder_at(str(out)), RUN, writing(*NEW))

    assert there(out) == sorted(NEW)


@pytest.mark.parametrize("stop", ["while writing", "after it"])
def test_a_failure_leaves_the_old_files_and_no_new_ones(out: Path, monkeypatch: pytest.MonkeyPatch, stop: str) -> None:
    before = there(out.parent)
    if stop == "after it":
        monkeypatch.setenv("DELTAWORKS_FAILPOINTS", "before_swap=raise")
    write = writing(*NEW, error=stop == "while writing")

    with pytest.raises(RunError):
        replace_local(out, RUN, write)
    assert there(out.parent) == before
    with pytest.raises(RunError):
        replace_remote(folder_at(str(out)), RUN, write)
    assert there(out.parent) == before


def test_files_that_another_writer_adds_meanwhile_are_left_alone(out: Path) -> None:
    def write(folder: str) -> None:
        put(out, "part-0-theirs")
        writing(*NEW, error=True)(folder)

    with pytest.raises(RunError):
        replace_remote(folder_at(str(out)), RUN, write)

    assert "part-0-theirs" in there(out)


def test_a_new_folder_needs_no_old_one(tmp_path: Path) -> None:
    replace_local(tmp_path / "a", RUN, writing("part-0"))
    replace_remote(folder_at(str(tmp_path / "b")), RUN, writing("part-0"))

    assert there(tmp_path) == ["a/part-0", "b/part-0"]


def test_what_no_load_wrote_is_not_replaced(out: Path) -> None:
    put(out, "orders.yaml")

    with pytest.raises(RefusedError, match=r"holds 'orders\.yaml'"):
        replace_local(out, RUN, writing("part-0-new"))
    with pytest.raises(RefusedError, match=r"holds 'orders\.yaml'"):
        replace_remote(folder_at(str(out)), RUN, writing("part-0-new"))
    assert "part-0-new" not in there(out)


def test_a_file_is_not_replaced_by_a_folder(tmp_path: Path) -> None:
    put(tmp_path, "out")

    with pytest.raises(ConfigError, match="is a file, not a folder"):
        replace_local(tmp_path / "out", RUN, writing("part-0"))


def test_what_a_run_that_was_killed_long_ago_left_is_removed(out: Path) -> None:
    put(out.parent, f".out.{OLD_RUN}/part-0", f".other.{OLD_RUN}/part-0")

    replace_local(out, RUN, writing("part-0-new"))

    assert there(out.parent) == [f".other.{OLD_RUN}/part-0", "out/part-0-new"]
