"""A shop's orders and what happened to them later: made up, but the same for the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from math import pi
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ORDERS = 1_000_000
NEW_ORDERS = 20_000
CUSTOMERS = 80_000
DAY = 24 * 60 * 60

# Shares of a hundred, in the order a shop would expect them.
COUNTRIES = {"DE": 34, "FR": 18, "NL": 12, "PL": 10, "IT": 8, "ES": 7, "AT": 5, "BE": 3, "DK": 2, "SE": 1}
STATUSES = {"delivered": 62, "shipped": 20, "paid": 12, "placed": 6}
WEEK = {"Mon": 13, "Tue": 12, "Wed": 12, "Thu": 13, "Fri": 16, "Sat": 18, "Sun": 16}


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """The days on which orders come in."""

    first: datetime = datetime(2025, 3, 1, tzinfo=UTC)
    number: int = 31

    def slots(self) -> list[int]:
        """Every day as often as its weekday is busy."""
        busy = list(WEEK.values())
        return [day for day in range(self.number) for _ in range(busy[(self.first.weekday() + day) % 7])]

    def after(self) -> Days:
        """The one day that follows."""
        return Days(first=self.first + timedelta(days=self.number), number=1)


MARCH = Days()


def make_orders(rows: int = ORDERS, *, seed: int = 1, first_id: int = 1, days: Days = MARCH) -> pa.Table:
    """Orders as they stood when they were exported; a later order has a higher number."""
    draws = _draws(rows, seed)
    at = _order_times(days, draws)
    return pa.table(
        {
            "order_id": pa.array(range(first_id, first_id + rows), pa.int64()),
            "customer_id": _customers(next(draws)),
            "country": _chosen(COUNTRIES, next(draws)),
            "amount": _amounts(next(draws), next(draws)),
            "status": _chosen(STATUSES, next(draws)),
            "order_date": at.cast(pa.date32(), safe=False),
            "updated_at": _later(at, next(draws), hours=6),
        }
    )


def make_changes(orders: pa.Table, *, new: int = NEW_ORDERS, seed: int = 2, days: Days = MARCH) -> pa.Table:
    """What a second export says: updates, some of them stale, cancellations, and orders that are new.

    The last one cancels an order that nobody has heard of.
    """
    first_id = orders.num_rows + 1
    unknown = _with(orders.slice(0, 1), order_id=pa.array([first_id + new]), status=pa.array(["cancelled"]))
    return pa.concat_tables(
        [
            _changed(orders.slice(orders.num_rows * 2 // 3), seed),
            make_orders(new, seed=seed + 1, first_id=first_id, days=days.after()),
            unknown,
        ]
    )


def save(rows: pa.Table, path: Path) -> None:
    """Write rows as CSV, whole or not at all."""
    draft = path.with_name(f".{path.name}.tmp")
    pa.csv.write_csv(rows, draft, pa.csv.WriteOptions(quoting_style="none"))
    draft.replace(path)


def _changed(orders: pa.Table, seed: int) -> pa.Table:
    """One order in eight; one in seven of those is cancelled, and one in five is old news."""
    draws = _draws(orders.num_rows, seed)
    cancelled, stale = pc.less(next(draws), 1 / 7), pc.less(next(draws), 0.2)
    moved = _seconds(next(draws), hours=72)
    told = pc.add(orders["updated_at"], pc.if_else(stale, pc.negate(moved), moved).cast(pa.duration("s")))
    status = pc.if_else(cancelled, "cancelled", pc.if_else(stale, "paid", "delivered"))
    return _with(orders, status=status, updated_at=told).filter(pc.less(next(draws), 0.125))


def _draws(rows: int, seed: int) -> Iterator[Any]:
    """One column of numbers from 0 to 1 after the other, all different."""
    return (pc.random(rows, initializer=seed * 1_000 + number) for number in count())


def _order_times(days: Days, draws: Iterator[Any]) -> Any:
    """Moments in order: some weekdays are busier, and noon is busier than midnight."""
    day = _taken(pa.array(days.slots(), pa.int64()), next(draws))
    second = _whole(pc.multiply(pc.add(next(draws), next(draws)), DAY / 2))
    at = pc.add(pc.add(pc.multiply(day, DAY), second), int(days.first.timestamp()))
    return at.take(pc.sort_indices(at)).cast(pa.timestamp("s"))


def _customers(draw: Any) -> Any:
    """A power law: a fifth of the customers place three fifths of the orders."""
    return pc.add(_whole(pc.multiply(pc.multiply(pc.multiply(draw, draw), draw), CUSTOMERS)), 1)


def _amounts(first: Any, second: Any) -> Any:
    """Log-normal, around 32: many small amounts and a few large ones."""
    radius = pc.sqrt(pc.multiply(pc.ln(pc.subtract(1.0, first)), -2.0))
    normal = pc.multiply(radius, pc.cos(pc.multiply(second, 2 * pi)))
    return pc.round(pc.exp(pc.add(pc.multiply(normal, 0.9), 3.45)), 2).cast(pa.decimal128(10, 2))


def _later(at: Any, draw: Any, *, hours: int) -> Any:
    return pc.add(at, _seconds(draw, hours=hours).cast(pa.duration("s")))


def _seconds(draw: Any, *, hours: int) -> Any:
    """A wait of at least a second: mostly short, at times very long."""
    return pc.add(_whole(pc.multiply(pc.ln(pc.subtract(1.0, draw)), -hours * 3600.0)), 1)


def _chosen(shares: Mapping[str, int], draw: Any) -> Any:
    return _taken(pa.array([name for name, share in shares.items() for _ in range(share)]), draw)


def _taken(slots: Any, draw: Any) -> Any:
    return slots.take(_whole(pc.multiply(draw, len(slots))))


def _whole(numbers: Any) -> Any:
    return pc.floor(numbers).cast(pa.int64())


def _with(rows: pa.Table, **columns: Any) -> pa.Table:
    """The same rows with some columns replaced."""
    for name, values in columns.items():
        rows = rows.set_column(rows.column_names.index(name), name, values)
    return rows
