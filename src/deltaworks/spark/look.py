"""One look at a batch before it is written: broken rules, null and repeated keys, how far the keys reach."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deltaworks.lake.expectation import all_kept, to_set_aside
from deltaworks.lake.reach import Reach
from deltaworks.lake.sql import quoted
from deltaworks.spark.statement import ROWS, run_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from deltaworks.lake.expectation import Expectation
    from deltaworks.spark.keys import Keys

MOST_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What one look at a batch told."""

    rows: int
    broken: Mapping[str, int] = field(default_factory=dict)  # rows that do not keep a rule, by its name
    kept: int = 0  # rows that will be written
    aside: int = 0  # rows that will be set aside
    null_keys: int = 0  # of the rows kept
    repeated_keys: int = 0  # keys that more than one of the rows kept has
    surplus: int = 0  # rows that would have to go for every key to be there once
    reaches: tuple[Reach, ...] = ()


def look(rows: DataFrame, rules: Sequence[Expectation] = (), keys: Keys | None = None) -> Findings:
    """Find out in one pass over the batch all that has to be known before it is written."""
    kinds = {name.lower(): kind for name, kind in rows.dtypes}
    found = run_over(rows, to_sql(rules, keys, kinds)).collect()[0].asDict()
    return Findings(
        rows=found["rows"] or 0,
        broken={rule.name: found[f"broken{at}"] or 0 for at, rule in enumerate(rules)},
        kept=found["kept"] or 0,
        aside=found["aside"] or 0,
        null_keys=found.get("nulls") or 0,
        repeated_keys=found.get("repeated") or 0,
        surplus=found.get("surplus") or 0,
        reaches=tuple(_reach(at, name, kinds, found) for at, name in enumerate(keys.columns)) if keys else (),
    )


def to_sql(rules: Sequence[Expectation], keys: Keys | None, kinds: Mapping[str, str]) -> str:
    """Spell the look as one SELECT that answers with one row."""
    counts = ["count(*) AS rows", f"count_if({all_kept(rules)}) AS kept", f"count_if({to_set_aside(rules)}) AS aside"]
    counts += [f"count_if(NOT {rule.kept}) AS broken{at}" for at, rule in enumerate(rules)]
    if keys is None:
        return f"SELECT {', '.join(counts)} FROM {ROWS}"
    columns = [f"{quoted(name)} AS key{at}" for at, name in enumerate(keys.columns)]
    groups = f"SELECT {', '.join([*columns, *counts])} FROM {ROWS} GROUP BY {', '.join(map(quoted, keys.columns))}"
    return f"SELECT {', '.join(_summed(rules, keys, kinds))} FROM ({groups})"


def _summed(rules: Sequence[Expectation], keys: Keys, kinds: Mapping[str, str]) -> list[str]:
    names = range(len(keys.columns))
    some_null = " OR ".join(f"key{at} IS NULL" for at in names)
    found = ["sum(rows) AS rows", "sum(kept) AS kept", "sum(aside) AS aside"]
    found += [f"sum(broken{at}) AS broken{at}" for at in range(len(rules))]
    found += [
        f"sum(CASE WHEN {some_null} THEN kept ELSE 0 END) AS nulls",
        "count_if(kept > 1) AS repeated",
        "sum(greatest(kept - 1, 0)) AS surplus",
    ]
    for at, name in enumerate(keys.columns):
        kind = kinds[name.lower()]
        if not _has_range(kind):
            continue
        printed = "unix_micros({})" if kind == "timestamp" else "CAST({} AS STRING)"
        key = f"CASE WHEN kept > 0 THEN key{at} END"
        found += [printed.format(f"min({key})") + f" AS low{at}", printed.format(f"max({key})") + f" AS high{at}"]
        found += [f"bool_or(kept > 0 AND key{at} IS NULL) AS null{at}"]
        if name in keys.partitions:
            found += [f"collect_set({printed.format(key)}) AS values{at}"]
    return found


def _has_range(kind: str) -> bool:
    # Of floating point numbers NaN is the largest, and -0.0 is 0.0: not for a comparison of statistics.
    return kind.partition("(")[0] in _RANGES


_RANGES = {"tinyint", "smallint", "int", "bigint", "decimal", "string", "date", "timestamp", "timestamp_ntz"}


def _reach(at: int, name: str, kinds: Mapping[str, str], found: Mapping[str, Any]) -> Reach:
    low, high = (_text(found.get(f"{side}{at}")) for side in ("low", "high"))
    return Reach(
        column=name,
        kind=kinds[name.lower()],
        low=low,
        high=high,
        nulls=bool(found.get(f"null{at}", True)),
        values=tuple(sorted(map(str, found.get(f"values{at}") or ()))),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def repeated(rows: DataFrame, keys: Sequence[str], shown: Sequence[str] | None = None) -> list[tuple[str, int]]:
    """The keys that are there more than once, as text, with how often; the most frequent first, up to a few."""
    names, said = (", ".join(map(quoted, columns)) for columns in (keys, shown or keys))
    statement = (
        f"SELECT to_json(struct({said}), map('ignoreNullFields', 'false')) AS key, count(*) AS times FROM {ROWS} "
        f"GROUP BY {names} HAVING count(*) > 1 ORDER BY times DESC, key LIMIT {MOST_NAMED}"
    )
    return [(row["key"], row["times"]) for row in run_over(rows, statement).collect()]
