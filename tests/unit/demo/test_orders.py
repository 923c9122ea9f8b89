from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from deltaworks.demo.orders import CUSTOMERS, make_changes, make_orders, save

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 100_000
NEW = 500
ORDERS = make_orders(ROWS)
CHANGES = make_changes(ORDERS, new=NEW)


def counts(column: Any) -> dict[Any, int]:
    return {pair["values"]: pair["counts"] for pair in column.value_counts().to_pylist()}


def known_changes() -> pa.Table:
    """The changes to orders that are there, with what is there beside them."""
    there = ORDERS.select(["order_id", "status", "updated_at", "amount"])
    return CHANGES.join(there, "order_id", join_type="inner", right_suffix="_before")


def saved(rows: pa.Table, path: Path) -> bytes:
    save(rows, path)
    return path.read_bytes()


def test_the_same_seed_makes_the_same_bytes(tmp_path: Path) -> None:
    again = make_orders(ROWS)

    assert saved(again, tmp_path / "b.csv") == saved(ORDERS, tmp_path / "a.csv")
    assert saved(make_changes(again, new=NEW), tmp_path / "b.csv") == saved(CHANGES, tmp_path / "a.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


def test_another_seed_makes_other_orders() -> None:
    assert make_orders(ROWS, seed=2) != ORDERS


def test_a_file_has_a_header_and_plain_values(tmp_path: Path) -> None:
    header, first, *_ = saved(ORDERS, tmp_path / "a.csv").decode().splitlines()

    assert header.replace('"', "") == "order_id,customer_id,country,amount,status,order_date,updated_at"
    assert first.startswith("1,")
    assert '"' not in first


def test_orders_are_numbered_as_they_came_in() -> None:
    assert ORDERS["order_id"].to_pylist() == list(range(1, ROWS + 1))
    assert pc.all(pc.less_equal(ORDERS["order_date"][:-1], ORDERS["order_date"][1:])).as_py()


def test_orders_fill_a_month_with_busy_weekends() -> None:
    days = counts(ORDERS["order_date"])

    assert set(days) == {date(2025, 3, day) for day in range(1, 32)}
    assert min(n for day, n in days.items() if day.weekday() == 5) > max(
        n for day, n in days.items() if day.weekday() == 1
    )


def test_few_customers_place_most_orders() -> None:
    by_customer = sorted(counts(ORDERS["customer_id"]).values(), reverse=True)

    assert sum(by_customer[: CUSTOMERS // 5]) > 0.55 * ROWS
    assert by_customer[0] > 1_000
    assert by_customer[-1] == 1
    assert pc.min(ORDERS["customer_id"]).as_py() == 1


def test_countries_differ_in_weight() -> None:
    countries = counts(ORDERS["country"])

    assert len(countries) == 10
    assert 0.3 < countries["DE"] / ROWS < 0.4
    assert countries["SE"] / ROWS < 0.02


def test_most_amounts_are_small_and_some_are_large() -> None:
    amounts = ORDERS["amount"].cast(pa.float64())
    median, high = pc.quantile(amounts, [0.5, 0.99]).to_pylist()

    assert pc.min(amounts).as_py() > 0
    assert 30 < median < 34
    assert pc.mean(amounts).as_py() > 1.3 * median
    assert high > 7 * median


def test_a_change_names_an_order_once() -> None:
    assert len(set(CHANGES["order_id"].to_pylist())) == CHANGES.num_rows


def test_changes_are_to_orders_that_are_there_but_for_the_new_and_the_unknown() -> None:
    ids = CHANGES["order_id"].to_pylist()

    assert known_changes().num_rows == CHANGES.num_rows - NEW - 1
    assert ids[-NEW - 1 :] == list(range(ROWS + 1, ROWS + NEW + 2))
    assert CHANGES["status"][-1].as_py() == "cancelled"
    assert set(CHANGES["order_date"][-NEW - 1 : -1].to_pylist()) == {date(2025, 4, 1)}


def test_some_news_is_old_and_some_orders_are_cancelled() -> None:
    known = known_changes()
    stale = pc.less(known["updated_at"], known["updated_at_before"])
    cancelled = pc.equal(known["status"], "cancelled")

    assert 0.15 < pc.mean(stale.cast(pa.int8())).as_py() < 0.25
    assert 0.1 < pc.mean(cancelled.cast(pa.int8())).as_py() < 0.2
    assert not pc.any(pc.equal(known["updated_at"], known["updated_at_before"])).as_py()


def test_a_change_leaves_the_amount_alone() -> None:
    known = known_changes()

    assert known["amount"] == known["amount_before"]
