from __future__ import annotations

from deltaworks.spark.connector import Connector, unless_said


def test_case_does_not_count_in_options() -> None:
    end = Connector.model_validate({"connectionParams": {"options": {"Header": True}}})

    assert (end.option("header"), end.option("HEADER"), end.option("sep")) == ("true", "true", None)
    assert unless_said({"mode": "FAILFAST", "sep": ";"}, {"Mode": "PERMISSIVE"}) == {"Mode": "PERMISSIVE", "sep": ";"}


def test_an_end_needs_no_jars_unless_it_says_so() -> None:
    assert Connector.model_validate({}).jar_groups == frozenset()
