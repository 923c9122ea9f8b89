"""Rows after each step, as `run --dry-run` shows them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.text import Text

from deltaworks.cli.output import NULL, counted, named, print_facts, print_rows, to_stdout
from deltaworks.cli.plan import ahead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaworks.pipeline.preview import Preview, StepRows

LONGEST = 40  # how wide one value may be
LONGEST_TYPE = 16


def print_preview(preview: Preview) -> None:
    """The rows of every step, then what a run would do with them."""
    console = to_stdout()
    what = f": up to {counted(preview.limit, 'row')} after each step; nothing is written"
    console.print(Text.assemble((preview.plan.pipeline_id, "bold"), what))
    for step in preview.steps:
        console.print()
        _print_step(step)
    console.print()
    print_facts([*ahead(preview.plan, preview.expectations), *named("keys", _keys(preview))])
    console.print()


def _print_step(step: StepRows) -> None:
    headers = [f"{cell(column.name)}\n{_cut(column.type, LONGEST_TYPE)}" for column in step.columns]
    title = step.title if step.rows else f"{step.title}: no rows"
    print_rows(headers, [list(map(cell, row)) for row in step.rows], title=title)


def _keys(preview: Preview) -> Iterator[str]:
    if preview.null_keys:
        yield f"{counted(preview.null_keys, 'row')} with a null in mergeKeys"
    if preview.repeated_keys:
        yield f"{counted(preview.repeated_keys, 'key')} that several rows have"


def cell(value: Any) -> str:
    """A value on one line: NULL, text as it is or else in quotes, anything else as JSON."""
    if value is None:
        return NULL
    if isinstance(value, str) and _tells_itself(value):
        return _cut(value)
    return _cut(_printable(json.dumps(value, ensure_ascii=False)))


def _tells_itself(text: str) -> bool:
    """Whether text without quotes cannot be taken for other text, or for no text at all."""
    return text.isprintable() and text == text.strip() and text not in ("", NULL) and not text.startswith('"')


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)


def _cut(text: str, longest: int = LONGEST) -> str:
    shown = Text(text)
    shown.truncate(longest, overflow="ellipsis")
    return shown.plain
