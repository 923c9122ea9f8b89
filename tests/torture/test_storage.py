"""Buckets and disks on a bad day."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.torture.buckets import COMMIT
from tests.torture.matrix import over

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.faults.client import Faults
    from tests.torture.case import Case

PASSING = ("500", "503", "slow", "conflict", "cut-request", "lost", "reset", "lost-500")


@over(*PASSING)
def test_a_bad_moment_of_a_bucket_is_ridden_out(shaky: Case, fault: Any, faults: Faults) -> None:
    shaky.begun()
    faults.add(fault, method="PUT", path=COMMIT, seconds=0.2)

    shaky.run()

    assert fault in [seen.kind for seen in faults.seen()]
    shaky.judge(f"S3: {fault} for a commit")


@over("expired", "denied")
def test_a_bucket_that_lets_nobody_in_is_told_and_gone_on_with_later(shaky: Case, fault: Any, faults: Faults) -> None:
    shaky.begun()
    faults.add(fault, method="PUT", path="", times=None)
    shaky.fails("S3")
    faults.clear()

    shaky.more()
    shaky.run()

    shaky.judge(f"S3: {fault}")


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Let a folder be a disk of eight megabytes, for root alone."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@over("full", "read-only")
def test_a_disk_that_takes_nothing_is_told_and_the_table_is_as_it_was(case: Case, fault: str) -> None:
    disk = case.folder / "disk"
    case.target = str(disk / "out")
    with small_disk(disk):
        case.begun()
        version = case.table().version
        _spoil(disk, fault)
        case.fails()
        assert case.table().version == version

        _mend(disk, fault)
        case.run()

        case.judge(f"disk that is {fault}")


def _spoil(disk: Path, fault: str) -> None:
    if fault == "read-only":
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        return
    with (disk / "filler").open("wb") as filler:
        while True:
            try:
                os.write(filler.fileno(), bytes(4096))
            except OSError:
                return


def _mend(disk: Path, fault: str) -> None:
    if fault == "read-only":
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    else:
        (disk / "filler").unlink()
