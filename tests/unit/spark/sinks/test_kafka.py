from __future__ import annotations

import json
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from deltaworks.errors import ConfigError, RunError
from deltaworks.lake.mode import WriteMode
from deltaworks.pipeline.config import PipelineConfig
from deltaworks.spark.sinks import AnySink
from deltaworks.spark.sinks.delta import DeltaSink
from deltaworks.spark.sinks.kafka import KafkaSink
from deltaworks.spark.sinks.kafka_records import sending

if TYPE_CHECKING:
    from pathlib import Path

AVRO = json.dumps({"type": "record", "name": "order", "fields": [{"name": "id", "type": "long"}]})


def given(**params: Any) -> dict[str, Any]:
    inner = {"topic": "orders", "kafka.bootstrap.servers": "a:9092", **params}
    return {"sinkType": "Kafka", "connectionParams": inner}


def sink(*, options: Any = None, **params: Any) -> KafkaSink:
    found = TypeAdapter(AnySink).validate_python({**given(**params), "options": options or {}})
    assert isinstance(found, KafkaSink)
    return found


def pipeline(mode: str, expect: list[dict[str, Any]] | None = None, **params: Any) -> dict[str, Any]:
    return {
        "pipelineId": "send",
        "extract": {"sourceType": "DeltaLake", "path": "in"},
        "expect": expect or [],
        "load": given(**params),
        "writeMode": mode,
    }


def test_the_example_of_the_specification_is_taken_as_it_stands() -> None:
    found = sink(topic="user-changes", **{"kafka.bootstrap.servers": "kafka:9092"})

    assert found.place == "kafka://kafka:9092/user-changes"
    assert found.jar_groups == {"kafka"}
    assert found.target() is None
    assert not found.takes_keys


def test_records_are_only_ever_added() -> None:
    sink().check_mode(WriteMode.APPEND)
    for mode in (WriteMode.UPSERT, WriteMode.OVERWRITE):
        with pytest.raises(PydanticCustomError, match=f"A topic cannot take {mode.value}"):
            sink().check_mode(mode)
        with pytest.raises(ValidationError, match=f"A topic cannot take {mode.value}"):
            PipelineConfig.model_validate(pipeline(mode.value))


@pytest.mark.parametrize(
    ("params", "wrong"),
    [
        ({"topic": "a b"}, "'a b' is not the name of a topic"),
        ({"valueFormat": "string"}, "valueFormat"),
        ({"schema": "id BIGINT"}, "A schema is for valueFormat: avro only"),
        ({"valueFormat": "avro", "schema": "id BIGINT"}, "schema holds no Avro schema"),
        ({"kafka.acks": 1}, "kafka.acks cannot be set: it is always all"),
        ({"kafka.enable.idempotence": False}, "kafka.enable.idempotence cannot be set"),
        ({"kafka.transactional.id": "a"}, "kafka.transactional.id cannot be set"),
        ({"kafka.value.serializer": "a"}, "kafka.value.serializer cannot be set"),
        ({"kafka.sasl.jaas.config": "a"}, "kafka.sasl.jaas.config is not for a file"),
        ({"keyColumns": "a,b"}, "'a,b' is not a column name"),
        ({"mergeKeys": "id"}, "Unknown key 'mergeKeys'"),
    ],
)
def test_what_makes_no_sense_is_refused_by_the_file_alone(params: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValidationError, match=wrong):
        sink(**params)


@pytest.mark.parametrize("name", ["topic", "ignoreNullFields"])
def test_an_option_that_is_ours_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match=f"The option '{name}' cannot be set"):
        sink(options={name: "x"})


def test_avro_needs_its_jar_and_what_is_set_aside_on_s3_that_of_s3() -> None:
    assert sink(valueFormat="avro", schema=AVRO).jar_groups == {"kafka", "avro"}
    assert sink(asidePath="s3://bucket/aside").jar_groups == {"kafka", "s3"}


def test_each_of_several_tables_may_have_a_topic_of_its_own() -> None:
    found = sink(topic="shop-{table}")

    assert found.names_each
    assert found.for_table("orders").place == "kafka://a:9092/shop-orders"


def test_rows_are_only_set_aside_where_the_file_has_a_place_for_them(tmp_path: Path) -> None:
    rule = {"name": "positive", "check": "n > 0", "onFailure": "setAside"}
    with pytest.raises(ValidationError, match="There is no place for what is set aside"):
        PipelineConfig.model_validate(pipeline("Append", [rule]))

    found = PipelineConfig.model_validate(pipeline("Append", [rule], asidePath=str(tmp_path / "aside")))

    aside = found.load.aside()
    assert isinstance(aside, DeltaSink)
    assert aside.path == f"{tmp_path}/aside"


def test_rows_are_kept_beside_what_is_set_aside_or_where_the_machine_keeps_such_things(tmp_path: Path) -> None:
    assert sink(asidePath=str(tmp_path / "aside")).scratch("run") == f"{tmp_path}/.aside.run.staging"
    assert sink().scratch("run") == f"{tempfile.gettempdir()}/.deltaworks.run.staging"


def test_an_error_that_is_not_sparks_is_not_touched_on_its_way() -> None:
    with pytest.raises(KeyError), sending("orders"):
        raise KeyError("id")
    with pytest.raises(ConfigError, match="mine") as caught, sending("orders"):
        raise ConfigError("mine", hint="Mend it.")
    assert caught.value.hint == "Mend it."
    with pytest.raises(RunError, match="ours"), sending("orders"):
        raise RunError("ours", hint="Run again.")
