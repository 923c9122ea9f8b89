"""From rows to a table: looked at once, judged, set aside where asked, then written."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from deltaworks import failpoints
from deltaworks.errors import RunError
from deltaworks.lake.expectation import OnFailure, all_kept
from deltaworks.runs.result import Kept
from deltaworks.spark.aside import set_aside
from deltaworks.spark.batch import Batch, staged
from deltaworks.spark.changes import arriving, going, unreplaced
from deltaworks.spark.errors import explained
from deltaworks.spark.hidden import visible
from deltaworks.spark.look import look

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.expectation import Expectation
    from deltaworks.lake.mode import WriteMode
    from deltaworks.runs.result import LoadResult
    from deltaworks.spark.keys import Keys
    from deltaworks.spark.look import Findings
    from deltaworks.spark.sinks import Sink


def land(sink: Sink, batch: Batch, mode: WriteMode, commit: Commit, *, rules: Sequence[Expectation] = ()) -> LoadResult:
    """Write a batch, after one look at it where the sink or a rule has to know something first."""
    keys = _keys(sink, mode, batch.rows, multiplied=batch.multiplied)
    with explained("load", batch.rows.columns):
        batch = replace(batch, rows=sink.shaped(batch.rows, mode))
        unreadable = batch.unreadable.count() if batch.unreadable else 0
        if not rules and not _looked_at(keys):
            with _settled(sink, batch, commit) as rows:
                if unreadable:
                    _set_aside(sink, batch, rules, commit)
                result = sink.write(replace(batch, rows=arriving(_once(rows, keys), sink, mode)), mode, commit)
            return result if result.already_landed else replace(result, rows_set_aside=unreadable)
        gone = going(batch.rows, sink, mode)
        with _repeated(sink, batch, commit) as seen:
            # Of an update that breaks a rule, the row as it was before takes none away.
            rows = unreplaced(seen, keys.columns) if gone and keys and rules else seen
            findings, kept = _judged(rows, keys, rules, gone)
            aside = findings.aside + unreadable
            if aside:
                _set_aside(sink, replace(batch, rows=_staying(rows, gone)), rules, commit)
            once = arriving(_once(kept, keys, findings), sink, mode)
            result = sink.write(replace(batch, rows=once, repeats=True, findings=findings), mode, commit)
    if result.already_landed:
        return result
    superseded = findings.surplus if keys and keys.on_duplicate == "keepNewest" else 0
    notes = (*result.notes, *(keys.notes(findings) if keys else ()))
    return replace(_counted(result, rules, findings), rows_set_aside=aside, rows_superseded=superseded, notes=notes)


def _keys(sink: Sink, mode: WriteMode, rows: DataFrame, *, multiplied: bool = False) -> Keys | None:
    keys = sink.row_keys(mode)
    return keys and keys.settled(rows, multiplied=multiplied)


def _looked_at(keys: Keys | None) -> Keys | None:
    return keys if keys and keys.checked else None


def _once(rows: DataFrame, keys: Keys | None, findings: Findings | None = None) -> DataFrame:
    """The rows that land, each key once."""
    return keys.once(rows, findings) if keys else rows


def _set_aside(sink: Sink, batch: Batch, rules: Sequence[Expectation], commit: Commit) -> None:
    set_aside(sink, batch, rules, commit)
    failpoints.reach("after_aside")


def _settled(sink: Sink, batch: Batch, commit: Commit) -> AbstractContextManager[DataFrame]:
    """The rows; read whole before they land where their source has to say then that they count."""
    return nullcontext(batch.rows) if batch.settle is None else _repeated(sink, batch, commit)


@contextmanager
def _repeated(sink: Sink, batch: Batch, commit: Commit) -> Iterator[DataFrame]:
    """The rows, the same at every look."""
    if batch.repeats and batch.settle is None:
        yield batch.rows
        return
    with staged(batch.rows, sink.scratch, sink.access) as rows:
        if batch.settle is not None:
            batch.settle()
        yield rows


def examined(sink: Sink, rows: DataFrame, mode: WriteMode, rules: Sequence[Expectation]) -> Findings | None:
    """What one look at the rows tells; none where nothing has to be known. Refuses what a load would refuse."""
    keys = _keys(sink, mode, rows)
    if not rules and not _looked_at(keys):
        return None
    with explained("load", rows.columns):
        return _judged(sink.shaped(rows, mode), keys, rules, going(rows, sink, mode))[0]


def _staying(rows: DataFrame, gone: str | None) -> DataFrame:
    return rows.where(f"NOT ({gone})") if gone else rows


def _judged(
    rows: DataFrame, keys: Keys | None, rules: Sequence[Expectation], gone: str | None
) -> tuple[Findings, DataFrame]:
    """What one look tells, and the rows to write; refuses what a rule or the keys refuse.

    No rule is about rows that are gone: one that was bad could never be deleted.
    """
    spared = [rule.sparing(gone) for rule in rules] if gone else rules
    findings = look(rows, spared, _looked_at(keys))
    _require_kept(_staying(rows, gone), rules, findings)
    kept = rows.where(all_kept(spared)) if rules else rows
    if looked := _looked_at(keys):
        looked.judge(kept, findings)
    return findings, kept


class BrokenRuleError(RunError):
    """Rows do not keep a rule whose `onFailure` is `fail`; nothing was written."""

    def __init__(self, rule: Expectation, count: int, of: int, samples: Sequence[str]) -> None:
        super().__init__(
            f"expect: {count:,} of {of:,} rows do not keep {rule.name!r} ({rule.check}), such as {'; '.join(samples)}.",
            hint="Nothing was written. Mend the rows, or give the rule onFailure: drop or setAside.",
        )
        self.rule, self.count = rule.name, count


def _require_kept(rows: DataFrame, rules: Sequence[Expectation], findings: Findings) -> None:
    for rule in rules:
        count = findings.broken[rule.name]
        if count and rule.on_failure is OnFailure.FAIL:
            raise BrokenRuleError(rule, count, findings.rows, _samples(rows, rule))


MOST_SHOWN = 3


def _samples(rows: DataFrame, rule: Expectation) -> list[str]:
    found = visible(rows).where(f"NOT {rule.kept}").limit(MOST_SHOWN).selectExpr("to_json(struct(*)) AS row").collect()
    return [row["row"] for row in found]


def _counted(result: LoadResult, rules: Sequence[Expectation], findings: Findings) -> LoadResult:
    kept = tuple(Kept(rule.name, rule.on_failure.value, findings.broken[rule.name]) for rule in rules)
    return replace(
        result,
        rows_read=findings.rows,
        rows_dropped=findings.rows - findings.kept - findings.aside,
        expectations=kept,
    )
