from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tools import packages
from tools.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path


def apt_that_does(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apt = folder / "apt-get"
    apt.write_text(f"#!/bin/sh\n{script}\n")
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def test_the_list_has_a_command_and_a_package_on_each_line(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(
        "# why\nsetpriv util-linux\n\n/usr/lib/postgresql/*/bin/initdb postgresql # a server\n"
    )

    listed = packages.read_list(tmp_path / "list.txt")

    assert listed == [("setpriv", "util-linux"), ("/usr/lib/postgresql/*/bin/initdb", "postgresql")]


def test_a_command_is_found_by_name_or_by_place(tmp_path: Path) -> None:
    (tmp_path / "15").mkdir()
    (tmp_path / "15/initdb").touch()

    assert packages.present("sh")
    assert packages.present(f"{tmp_path}/*/initdb")
    assert not packages.present("no-such-command")
    assert not packages.present(f"{tmp_path}/*/psql")


def test_who_may_not_install_is_told_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(Problem, match="postgresql") as raised:
        packages.install(["postgresql"])

    assert "sudo apt-get install -y --no-install-recommends postgresql" in raised.value.hint


def test_root_installs_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apt_that_does(f'echo "$@" >> {tmp_path}/calls', tmp_path, monkeypatch)

    packages.install(["postgresql", "mariadb-server"])

    update, install = (tmp_path / "calls").read_text().splitlines()
    assert update.startswith("update")
    assert install.startswith("install -y --no-install-recommends postgresql mariadb-server")


def test_nothing_missing_means_nothing_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apt_that_does("exit 1", tmp_path, monkeypatch)

    packages.install([])


def test_a_failing_installation_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apt_that_does("echo 'E: Unable to locate package' >&2; exit 100", tmp_path, monkeypatch)

    with pytest.raises(Problem, match="Unable to locate"):
        packages.install(["postgresql"])
