"""What in a statement is code, and what only looks like it: texts, quoted names and comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def _nested(depth: int) -> str:
    """A comment that has comments in it, so many deep."""
    inner = "(?!)"
    for _ in range(depth):
        inner = rf"/\*(?:(?!/\*|\*/).|{inner})*\*/"
    return inner


def _pattern(literal: str, comment: str) -> re.Pattern[str]:
    return re.compile(f"(?P<comment>{comment})|(?P<literal>{literal})", re.DOTALL)


POSTGRES = _pattern(
    comment=rf"--[^\r\n]*|{_nested(8)}",
    literal=r"""(?<![\w$])[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"
        |(?<![\w$])\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$""".replace("\n        ", ""),
)
MYSQL = _pattern(
    # One that begins with an exclamation mark is code after all.
    comment=r"(?:--(?=\s|$)|\#)[^\n]*|/\*(?!M?!).*?\*/",
    literal=r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`""",
)


def pieces(statement: str, lexis: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """The statement piece by piece, each a `comment`, a `literal` (a text or a quoted name) or `code`."""
    at = 0
    for found in lexis.finditer(statement):
        yield "code", statement[at : found.start()]
        yield "comment" if found["comment"] is not None else "literal", found[0]
        at = found.end()
    yield "code", statement[at:]


def without_end(statement: str, lexis: re.Pattern[str]) -> str:
    """A statement without the semicolon that ends it, and what is said behind that."""
    end = at = len(statement)
    for kind, text in reversed([*pieces(statement, lexis)]):
        at -= len(text)
        if kind == "literal":
            break
        if kind == "code":
            rest = text.rstrip("; \t\r\n\f\v")
            if ";" in text[len(rest) :]:
                end = at + text.index(";", len(rest))
            if rest:
                break
    return statement[:end]


def without_placeholders(statement: str, lexis: re.Pattern[str]) -> str:
    """A statement whose question marks Java's driver does not take for values that it is to be given."""
    return "".join(text.replace("?", "??") if kind == "code" else text for kind, text in pieces(statement, lexis))
