"""What is kept while a load looks at its rows."""

from datetime import UTC, datetime

from deltaworks.spark.batch import left

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
RUN = "20261116T120000-0a1b2c3d"
OLD = "20261109T115959-ffffffff"


def test_only_names_like_our_own_of_runs_older_than_a_week_are_left_over() -> None:
    names = [
        f"staging-{RUN}",
        f"staging-{OLD}",
        "staging-20261109T120001-ffffffff",  # a second less than a week
        f"staging-{OLD}.bak",
        "staging-mine",
        OLD,
    ]
    assert left(names, f"staging-{RUN}", RUN, now=NOW) == [f"staging-{OLD}"]


def test_a_table_beside_keeps_its_own_and_one_named_like_a_run_is_no_run() -> None:
    names = [f".orders.{OLD}.staging", f".orders2.{OLD}.staging", f".ordersX{OLD}.staging"]
    assert left(names, f".orders.{RUN}.staging", RUN, now=NOW) == [f".orders.{OLD}.staging"]
    assert left([f".{OLD}.{RUN}.staging"], f".{OLD}.{RUN}.staging", RUN, now=NOW) == []
