from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from tests.house.tree import PACKAGE, named, sources

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

READS_ENVIRONMENT = ("cli", "vault/environment.py", "failpoints.py", "api.py")
PRINTS = ("cli",)
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}
STREAMS = {"stdout", "stderr"}


def reads_environment(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="os"), attr=name):
            return name in ENVIRONMENT
        case ast.ImportFrom(module="os", names=names):
            return any(alias.name in ENVIRONMENT for alias in names)
    return False


def prints(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="print" | "input")):
            return True
        case ast.Attribute(value=ast.Name(id="sys"), attr=name):
            return name in STREAMS
        case ast.ImportFrom(module="sys", names=names):
            return any(alias.name in STREAMS for alias in names)
    return False


def offences(breaks: Callable[[ast.AST], bool], allowed: tuple[str, ...]) -> list[str]:
    edges = [PACKAGE / name for name in allowed]
    inside = [path for path in sources() if not any(path.is_relative_to(edge) for edge in edges)]
    return [f"{named(path)}:{line}" for path in inside for line in lines(breaks, path.read_text(encoding="utf-8"))]


def lines(breaks: Callable[[ast.AST], bool], code: str) -> list[int]:
    return [getattr(node, "lineno", 0) for node in ast.walk(ast.parse(code)) if breaks(node)]


def test_the_environment_is_read_at_the_edges_only() -> None:
    assert offences(reads_environment, READS_ENVIRONMENT) == []


def test_only_the_command_line_prints() -> None:
    assert offences(prints, PRINTS) == []


@pytest.mark.parametrize("code", ["os.environ['HOME']", "os.getenv('HOME')", "from os import environ as e"])
def test_a_look_at_the_environment_is_seen(code: str) -> None:
    assert lines(reads_environment, code) == [1]


@pytest.mark.parametrize("code", ["print('x')", "sys.stdout.write('x')", "from sys import stderr"])
def test_a_printed_word_is_seen(code: str) -> None:
    assert lines(prints, code) == [1]


def test_a_quiet_module_breaks_no_rule(tmp_path: Path) -> None:
    code = "import os\nlog.info(os.path.join(a, 'print'))"

    assert lines(reads_environment, code) + lines(prints, code) == []
