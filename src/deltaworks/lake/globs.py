"""Paths that are patterns, as Spark and Hadoop read them: `*`, `?`, `[a-c]`, `{a,b}`, and `\\` before a plain sign."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNS = "\\{}[]*?"


def escaped(path: str) -> str:
    """The pattern that means just this path."""
    return "".join(f"\\{sign}" if sign in _SIGNS else sign for sign in path)


def unescaped(pattern: str) -> str:
    """The path that a pattern without special signs means."""
    return re.sub(r"\\(.)", r"\1", pattern)


def check_pattern(pattern: str) -> None:
    """Refuse a pattern that means nothing, before anybody looks for files."""
    for plain in _spread(pattern, pattern):
        for part in plain.split("/"):
            _regex(part, pattern)


def matching(pattern: str) -> Iterator[Path]:
    """The files and folders on this machine that a pattern means."""
    for plain in _spread(pattern, pattern):
        path = Path(plain)
        yield from _found(Path(path.anchor), path.relative_to(path.anchor).parts, pattern)


class Rooted(NamedTuple):
    """A pattern, parted where it may begin to mean several places."""

    folder: str  # above all that it means
    below: tuple[tuple[re.Pattern[str], ...], ...]  # what may follow, name by name
    only: str | None  # that as a path, where it means one place


def rooted(pattern: str) -> Rooted:
    """Part a whole path or URI, so that one look at a folder finds all that it means."""
    scheme, slashes, rest = pattern.rpartition("://")
    spread = [_names(plain) for plain in _spread(rest, pattern)]
    # The last name is never part of the folder: it may be a file's.
    levels = zip(*(names[:-1] for names in spread), strict=False)
    shared = sum(1 for _ in takewhile(lambda same: len(set(same)) == 1 and _is_plain(same[0]), levels))
    folder, rests = spread[0][: max(shared, 1)], [names[max(shared, 1) :] for names in spread]
    plain = len(rests) == 1 and all(map(_is_plain, rests[0]))
    return Rooted(
        folder=f"{scheme}{slashes}{unescaped('/'.join(folder)) or '/'}",
        below=tuple(tuple(re.compile(_regex(name, pattern), re.DOTALL) for name in names) for names in rests),
        only=unescaped("/".join(rests[0])) if plain else None,
    )


def name_like(pattern: str) -> re.Pattern[str]:
    """What names of files match a pattern, as one expression."""
    return re.compile("|".join(f"(?:{_regex(plain, pattern)})" for plain in _spread(pattern, pattern)), re.DOTALL)


def _names(plain: str) -> list[str]:
    """The names in a path, after its anchor: a bucket, or nothing for the top of a machine."""
    anchor, *names = plain.split("/")
    return [anchor, *filter(None, names)]


def _is_plain(part: str) -> bool:
    return not re.search(r"(?<!\\)[\[*?]", part)


def _spread(text: str, pattern: str) -> Iterator[str]:
    """One pattern without braces for every choice that the braces leave."""
    signs = re.findall(r"\\.|.", text, re.DOTALL)
    if "{" not in signs:
        yield text
        return
    start = signs.index("{")
    depth, choices = 1, [""]
    for at, sign in enumerate(signs[start + 1 :], start + 1):
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            for choice in choices:
                yield from _spread("".join([*signs[:start], choice, *signs[at + 1 :]]), pattern)
            return
        if sign == "," and depth == 1:
            choices.append("")
        else:
            choices[-1] += sign
    raise NoPatternError(pattern, "`{` has no `}`")


def _found(folder: Path, parts: tuple[str, ...], pattern: str) -> Iterator[Path]:
    if not parts:
        yield folder
        return
    first, *rest = parts
    if _is_plain(first):
        below = [folder / unescaped(first)]
    else:
        like = re.compile(_regex(first, pattern), re.DOTALL)
        below = [path for path in sorted(folder.iterdir()) if like.fullmatch(path.name)] if folder.is_dir() else []
    for path in below:
        if path.exists():
            yield from _found(path, tuple(rest), pattern)


def _regex(part: str, pattern: str) -> str:
    """A part of a path as Python reads patterns."""
    whole = ""
    for sign in re.findall(r"\[(?:\\.|[^\]\\])+\]|\\.|.", part, re.DOTALL):
        match sign:
            case "*":
                whole += ".*"
            case "?":
                whole += "."
            case "[":
                raise NoPatternError(pattern, "`[` has no `]`")
            case _ if sign.startswith("["):
                whole += "[" + re.sub("^[!^]", "^", sign[1:-1]).replace("[", r"\[") + "]"
            case _:
                whole += re.escape(unescaped(sign))
    return whole


class NoPatternError(ConfigError):
    """A path with special signs that mean nothing together."""

    def __init__(self, pattern: str, why: str) -> None:
        super().__init__(
            f"{pattern!r} is no pattern: {why}.", hint=r"Put \ before a sign that stands for itself, as in `a\[1\]`."
        )
