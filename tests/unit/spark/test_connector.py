from __future__ import annotations

from deltaworks.spark.connector import Connector, unless_said
from deltaworks.vault.storage import Access


class End(Connector):
    """An end at a place of its own."""

    path: str = "/data"

    @property
    def place(self) -> str:
        return self.path


def end(**values: object) -> End:
    return End.model_validate({"connectionParams": values})


def test_case_does_not_count_in_options() -> None:
    found = end(options={"Header": True})

    assert (found.option("header"), found.option("HEADER"), found.option("sep")) == ("true", "true", None)
    assert unless_said({"mode": "FAILFAST", "sep": ";"}, {"Mode": "PERMISSIVE"}) == {"Mode": "PERMISSIVE", "sep": ";"}


def test_options_of_the_storage_are_not_those_of_the_rows() -> None:
    found = end(options={"header": True, "fs.s3a.endpoint": "x", "AWS_REGION": "y"})

    assert found.spark_options() == {"header": "true"}
    assert found.storage_options() == {"fs.s3a.endpoint": "x", "AWS_REGION": "y"}


def test_an_end_needs_the_jars_of_its_storage() -> None:
    assert end().jar_groups == frozenset()
    assert end(path="s3://lake/t").jar_groups == {"s3"}


def test_a_way_to_the_storage_leaves_the_rest_as_it_was() -> None:
    way = Access(place="s3a://lake")

    assert end(path="s3a://lake/t").reached_by(way).access == way
    assert end(path="s3a://lake/t").reached_by(way) != end(path="s3a://lake/u")
