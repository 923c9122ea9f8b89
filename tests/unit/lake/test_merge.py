from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaworks.lake.merge import Condition, MergePlan
from deltaworks.lake.sql import quoted

CONDITIONS = st.builds(Condition, st.sampled_from(["source.deleted", "source.a > target.a", "source.note = 'x'"]))


def test_a_plan_with_everything_is_one_statement() -> None:
    plan = MergePlan(
        keys=("id", "day"),
        update_when=Condition("source.at > target.at"),
        delete_when=Condition("source.deleted"),
    )

    assert plan.to_sql("delta.`orders`", "incoming") == (
        "MERGE INTO delta.`orders` AS target USING incoming AS source"
        " ON target.`id` <=> source.`id` AND target.`day` <=> source.`day`\n"
        "WHEN MATCHED AND coalesce(source.deleted, false) THEN DELETE\n"
        "WHEN MATCHED AND coalesce(source.at > target.at, false) THEN UPDATE SET *\n"
        "WHEN NOT MATCHED AND NOT coalesce(source.deleted, false) THEN INSERT *"
    )


def test_keys_alone_update_what_is_there_and_insert_the_rest() -> None:
    assert MergePlan(keys=("id",)).to_sql("t", "s") == (
        "MERGE INTO t AS target USING s AS source ON target.`id` <=> source.`id`\n"
        "WHEN MATCHED THEN UPDATE SET *\n"
        "WHEN NOT MATCHED THEN INSERT *"
    )


def test_a_plan_for_known_keys_skips_files_and_compares_plainly() -> None:
    plan = MergePlan(keys=("id",), null_keys=False, within=("target.`id` BETWEEN 1 AND 5",))

    assert plan.to_sql("t", "s").splitlines()[0] == (
        "MERGE INTO t AS target USING s AS source ON target.`id` = source.`id` AND target.`id` BETWEEN 1 AND 5"
    )


def test_a_plan_may_name_its_columns_and_let_new_ones_in() -> None:
    plan = MergePlan(keys=("id",), update_columns=("a", "b"), insert_columns=("id", "a b"), evolve=True)

    assert plan.to_sql("t", "s") == (
        "MERGE WITH SCHEMA EVOLUTION INTO t AS target USING s AS source ON target.`id` <=> source.`id`\n"
        "WHEN MATCHED THEN UPDATE SET `a` = source.`a`, `b` = source.`b`\n"
        "WHEN NOT MATCHED THEN INSERT (`id`, `a b`) VALUES (source.`id`, source.`a b`)"
    )


def test_a_condition_on_the_row_already_there_cannot_keep_a_new_row_out() -> None:
    plan = MergePlan(keys=("id",), delete_when=Condition("source.at > target.at"))

    assert plan.rows_to_insert() is None
    assert plan.to_sql("t", "s").endswith("WHEN NOT MATCHED THEN INSERT *")


def test_a_null_delete_flag_does_not_keep_a_new_row_out() -> None:
    plan = MergePlan(keys=("id",), delete_when=Condition("source.deleted"))

    assert plan.rows_to_insert() == "NOT coalesce(source.deleted, false)"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("source.at > target.at", True),
        ("TARGET.at IS NULL", True),
        ("`target`.at IS NULL", True),
        ("target . at IS NULL", True),
        ("(target.at IS NULL)", True),
        ("source.deleted", False),
        ("source.target = 1", False),
        ("source.target.deleted", False),
        ("my_target.x = 1", False),
        ("`a target`.x = 1", False),
        ("source.note = 'see target.at'", False),
        ("source.note = 'it''s target.at'", False),
        (r"source.note = 'it\'s target.at'", False),
        ('source.note = "see target.at"', False),
        ("source.note = 'x' AND target.at = 'y'", True),
    ],
)
def test_a_condition_knows_whether_it_looks_at_the_row_already_there(sql: str, expected: bool) -> None:
    assert Condition(sql).names_target is expected


@given(
    keys=st.lists(st.text(min_size=1), min_size=1, unique=True),
    update=st.none() | CONDITIONS,
    delete=st.none() | CONDITIONS,
)
def test_a_plan_says_each_of_its_parts_once(
    keys: list[str], update: Condition | None, delete: Condition | None
) -> None:
    sql = MergePlan(keys=tuple(keys), update_when=update, delete_when=delete).to_sql("t", "s")

    assert all(f"target.{quoted(key)} <=> source.{quoted(key)}" in sql for key in keys)
    assert sql.count("THEN DELETE") == (delete is not None)
    assert sql.count("THEN UPDATE SET *") == 1
    assert sql.count("THEN INSERT *") == 1
