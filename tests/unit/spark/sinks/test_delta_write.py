from __future__ import annotations

from deltaworks.lake.merge import MergePlan
from deltaworks.spark.sinks.delta_write import Merge


def test_a_merge_is_shown_as_people_read_it() -> None:
    merge = Merge(path="/lake/or`ders", plan=MergePlan(keys=("id",)))

    assert merge.statement == (
        "MERGE INTO delta.`/lake/or``ders` AS target USING the rows AS source ON target.`id` <=> source.`id`\n"
        "WHEN MATCHED THEN UPDATE SET *\n"
        "WHEN NOT MATCHED THEN INSERT *"
    )
