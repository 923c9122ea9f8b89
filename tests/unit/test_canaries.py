from __future__ import annotations

import base64
import json
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import pytest
from tests.canaries import Search, Watch, commands, new_canary, searched

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def canary(tmp_path: Path) -> str:
    return new_canary(tmp_path / "servers")


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch = Watch()
    yield watch
    watch.end()


def in_base64(before: bytes, text: str) -> str:
    return base64.b64encode(before + text.encode() + b"yz").decode()


WAYS = {
    "raw": str,
    "URL": lambda text: quote(text, safe=""),
    "form": quote_plus,
    "JSON": lambda text: json.dumps({"a": text}),
    "JSON in JSON": lambda text: json.dumps({"a": json.dumps({"b": text})}),
    **{
        f"base64 after {n}": lambda text, n=n: base64.b64encode(b"x" * n + text.encode() + b"yz").decode()
        for n in range(5)
    },
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_found_in_a_file_however_it_is_spelled(tmp_path: Path, watch: Watch, canary: str, way: str) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/log.txt").write_text(f"before {WAYS[way](canary)} after")  # type: ignore[operator]

    assert list(searched(tmp_path, watch)) == [f"a secret is in {tmp_path / 'deep/log.txt'}"]


def test_nothing_is_found_where_nothing_is(tmp_path: Path, watch: Watch, canary: str) -> None:
    (tmp_path / "log.txt").write_text(canary[:-1])
    watch.printed.append(("test", canary[1:].encode()))

    assert list(searched(tmp_path, watch)) == []


def test_what_was_printed_is_searched(tmp_path: Path, watch: Watch, canary: str) -> None:
    watch.printed.append(("test_x", f"login with {canary}".encode()))

    assert list(searched(tmp_path, watch)) == ["a secret is in what test_x printed"]


def test_the_arguments_of_processes_are_seen(tmp_path: Path, watch: Watch, canary: str) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()", canary], stdin=subprocess.PIPE) as process:
        while not any(canary.encode() in command for command in commands()):
            assert process.poll() is None
        watch.commands.update(commands())
        process.communicate(b"\n")

    assert list(searched(tmp_path, watch)) == [f"a secret is in the arguments of {sys.executable}"]


def test_without_secrets_there_is_nothing_to_find() -> None:
    assert not Search([]).text(b"anything")
