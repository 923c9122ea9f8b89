from __future__ import annotations

from deltaworks.lake.descriptions import descriptions
from deltaworks.lake.model import FileModel
from deltaworks.spark.sinks.delta import DeltaSink
from deltaworks.spark.sources.kafka import KafkaIncremental


class Stranger(FileModel):
    name: str
    """What a class of somebody else says is not looked for."""


def test_the_text_below_a_field_describes_it() -> None:
    assert descriptions(KafkaIncremental) == {
        "max_records_per_batch": "How many records one batch reads at most, of all partitions together."
    }


def test_the_fields_a_class_builds_on_are_described_too() -> None:
    found = descriptions(DeltaSink)

    assert found["credential_id"] == "The credential to use, by its name in the vault."
    assert found["merge_keys"].startswith("For Upsert: ")
    assert found["sink_type"] == "`DeltaLake`."


def test_every_key_of_a_sink_is_described() -> None:
    assert DeltaSink.model_fields.keys() <= descriptions(DeltaSink).keys()


def test_only_our_own_classes_are_read() -> None:
    assert descriptions(Stranger) == {}


def test_the_schema_shows_the_descriptions() -> None:
    properties = DeltaSink.model_json_schema()["properties"]

    assert properties["connectionParams"]["properties"]["path"]["description"].startswith(
        "Where the table is, or will be."
    )
    assert properties["credentialId"]["description"].startswith("The credential to use")
