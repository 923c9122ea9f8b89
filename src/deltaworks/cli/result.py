"""What a run did, as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.cli.output import counted, print_facts, print_rows, text, to_stderr, to_stdout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaworks.runs.result import Kept, LoadResult, RunResult, Standing, StepResult


def print_result(result: RunResult, target: str) -> None:
    """The few numbers of one run, and what else is worth knowing of it."""
    load = result.load
    if load.already_landed:
        version = "" if load.version is None else f" as version {load.version}"
        to_stdout().print(f"[bold]{_title(result)}[/]: already landed{version}; nothing was written.")
        return
    if load.batches == 0 and result.standing:
        _print_nothing_new(result, result.standing)
        return
    headers = ("read", "inserted", "updated", "deleted", "version", "seconds")
    reached = "-" if load.version is None else str(load.version)
    seconds = f"{load.seconds:.1f}"
    row = (load.rows_read, load.rows_inserted, load.rows_updated, load.rows_deleted, reached, seconds)
    print_rows(headers, [row], title=_title(result))
    for line in (
        *_stands(result),
        *worth_knowing(load, target),
        *(step_line(step) for step in result.after if step.success),
    ):
        to_stdout().print(line, markup=False)
    for step in result.after:
        _warn(step)


def _print_nothing_new(result: RunResult, standing: Standing) -> None:
    to_stdout().print(f"[bold]{_title(result)}[/]: nothing new since {standing.since}.")
    print_facts([("position", standing.position), ("source ends", standing.end), ("batch", standing.batch)])


def _stands(result: RunResult) -> Iterator[str]:
    if result.standing is not None:
        batches = counted(result.load.batches or 0, "batch", "batches")
        yield f"{batches}, the last is number {result.standing.batch}: {result.standing.position}"


def _title(result: RunResult) -> str:
    return " ".join(filter(None, (result.pipeline_id, result.part)))


def worth_knowing(load: LoadResult, target: str) -> Iterator[str]:
    """What the numbers of a load do not say; nothing where all went the usual way."""
    yield from (rule_line(rule) for rule in load.expectations if rule.broken)
    if load.rows_dropped:
        yield f"{counted(load.rows_dropped, 'row')} dropped"
    if load.rows_set_aside:
        yield f"{counted(load.rows_set_aside, 'row')} set aside in {target.rstrip('/')}_aside"
    if load.rows_superseded:
        yield f"{counted(load.rows_superseded, 'older row')} of a key left out"
    if load.files_before is not None and load.files_before > 1:
        yield f"{load.files_read:,} of {load.files_before:,} files read, {load.files_removed:,} rewritten"
    if load.attempts > 1:
        yield f"landed at attempt {load.attempts}: other writers were faster"
    yield from (f"note: {note}" for note in load.notes)


DONE = {"fail": "the run failed", "drop": "dropped", "setAside": "set aside"}
WOULD = {"fail": "the run would fail", "drop": "would be dropped", "setAside": "would be set aside"}


def rule_line(rule: Kept, words: dict[str, str] = DONE) -> str:
    """How many rows do not keep a rule, and what happens to them."""
    if not rule.broken:
        return f"{rule.name}: all rows keep it"
    return f"{rule.name}: {counted(rule.broken, 'row')}, {words.get(rule.on_failure, rule.on_failure)}"


def step_line(step: StepResult) -> str:
    """What one step after the load did."""
    if not step.success:
        return f"{step.name} failed: {(step.error or '').removeprefix(f'{step.name}: ')}"
    version = "" if step.version is None else f", version {step.version}"
    return f"{step.name}: {_files(step)}{version}, {step.seconds:.1f} s"


def _files(step: StepResult) -> str:
    if not step.files_removed:
        return "nothing to do"
    files = counted(step.files_removed, "file")
    return f"{files} became {step.files_added:,}" if step.files_added else f"{files} removed"


def _warn(step: StepResult) -> None:
    if step.success:
        return
    console = to_stderr()
    said = f" The rows have landed, but {step_line(step)}"
    console.print(text(("Warning:", "yellow"), said), soft_wrap=True)
    console.print(text(f"Hint: {step.hint}"), soft_wrap=True)
