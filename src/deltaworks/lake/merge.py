"""Merging by key, decided before any engine is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from deltaworks.lake.sql import quoted


@dataclass(frozen=True, slots=True)
class Condition:
    """A SQL condition over `source` (the incoming row) and `target` (the row already there)."""

    sql: str

    @property
    def names_target(self) -> bool:
        """Whether it looks at the row already there, which an unmatched row does not have."""
        return re.search(r"(?i)(?<![\w`.])(`target`|target)\s*\.", _without_strings(self.sql)) is not None

    @property
    def holds(self) -> str:
        """SQL that is true or false, never null: a condition that is null is not true."""
        return f"coalesce({self.sql}, false)"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePlan:
    """How incoming rows meet the rows already there. Engine-neutral, no I/O."""

    keys: tuple[str, ...]
    update_when: Condition | None = None
    delete_when: Condition | None = None
    update_columns: tuple[str, ...] = ()  # none means all
    insert_columns: tuple[str, ...] = ()  # none means all
    evolve: bool = False  # new columns of the rows become columns of the table
    null_keys: bool = True  # a key of the rows may be null
    within: tuple[str, ...] = ()  # what holds for every row the keys can match, so that files can be skipped

    def to_sql(self, target: str, source: str) -> str:
        """Spell this plan as one Spark SQL MERGE statement."""
        verb = "MERGE WITH SCHEMA EVOLUTION INTO" if self.evolve else "MERGE INTO"
        clauses = [f"{verb} {target} AS target USING {source} AS source ON {self._match()}"]
        if self.delete_when:
            clauses.append(f"WHEN MATCHED AND {self.delete_when.holds} THEN DELETE")
        clauses.append(f"WHEN MATCHED{_and(self.update_when)} THEN UPDATE SET {self._updates()}")
        clauses.append(f"WHEN NOT MATCHED{self._unless_deleted()} THEN INSERT {self._inserts()}")
        return "\n".join(clauses)

    def rows_to_insert(self) -> str | None:
        """The condition under which a row that matches nothing is inserted; none means always."""
        if self.delete_when is None or self.delete_when.names_target:
            return None
        # A null flag is not a delete: plain NOT would drop the row.
        return f"NOT {self.delete_when.holds}"

    def _match(self) -> str:
        # Null-safe, so that a null key finds its row instead of doubling it; plain where none is null, which is faster.
        equal = "<=>" if self.null_keys else "="
        keys = (f"target.{quoted(key)} {equal} source.{quoted(key)}" for key in self.keys)
        return " AND ".join([*keys, *self.within])

    def _updates(self) -> str:
        return ", ".join(f"{quoted(name)} = source.{quoted(name)}" for name in self.update_columns) or "*"

    def _inserts(self) -> str:
        if not self.insert_columns:
            return "*"
        names = ", ".join(map(quoted, self.insert_columns))
        return f"({names}) VALUES ({', '.join(f'source.{quoted(name)}' for name in self.insert_columns)})"

    def _unless_deleted(self) -> str:
        condition = self.rows_to_insert()
        return f" AND {condition}" if condition else ""


def _and(condition: Condition | None) -> str:
    return f" AND {condition.holds}" if condition else ""


def _without_strings(sql: str) -> str:
    return re.sub(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"", "''", sql)
