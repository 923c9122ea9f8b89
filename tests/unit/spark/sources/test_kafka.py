from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import SecretStr, TypeAdapter, ValidationError

from deltaworks.errors import ConfigError
from deltaworks.spark.sources import AnySource
from deltaworks.spark.sources.kafka import KafkaSource
from deltaworks.spark.sources.kafka_rows import require_names
from deltaworks.vault.credential import Credential
from deltaworks.vault.storage import Access

if TYPE_CHECKING:
    from pathlib import Path

AVRO = json.dumps({"type": "record", "name": "order", "fields": [{"name": "id", "type": "long"}]})


def given(*, options: Any = None, **params: Any) -> dict[str, Any]:
    inner = {"topic": "orders", "kafka.bootstrap.servers": "a:9092", **params}
    inner = {key: value for key, value in inner.items() if value is not None}
    return {"sourceType": "Kafka", "connectionParams": inner, "options": options or {}}


def source(*, options: Any = None, **params: Any) -> KafkaSource:
    found = TypeAdapter(AnySource).validate_python(given(options=options, **params))
    assert isinstance(found, KafkaSource)
    return found


class Around:
    """A vault with one credential, and no session."""

    def __init__(self, **values: str) -> None:
        self._credential = Credential("kafka", {name: SecretStr(value) for name, value in values.items()})

    def session(self) -> Any:
        raise AssertionError("no session is needed")

    def credential(self, credential_id: str | None) -> Credential | None:
        return self._credential if credential_id else None

    def access_to(self, uri: str, credential_id: str | None, options: Any) -> Access:
        return Access()


def test_the_example_of_the_specification_is_taken_as_it_stands() -> None:
    values = {
        "sourceType": "Kafka",
        "connectionParams": {"topic": "user-updates", "kafka.bootstrap.servers": "kafka:9092"},
    }
    found = TypeAdapter(AnySource).validate_python(values)

    assert isinstance(found, KafkaSource)
    assert (found.topic, found.bootstrap_servers, found.value_format) == ("user-updates", "kafka:9092", "json")
    assert (found.starting_offsets, found.ending_offsets) == ("earliest", "latest")
    assert (found.repeats, found.sets_aside) == (False, False)
    assert found.jar_groups == {"kafka"}


def test_one_topic_several_or_a_pattern() -> None:
    assert source(topic=None, topics=["a", "b"]).topics == ("a", "b")
    assert source(topic=None, topics='["a", "b"]').topics == ("a", "b")
    assert source(topic=None, topicPattern="orders-.*").topic_pattern == "orders-.*"


@pytest.mark.parametrize(
    ("params", "wrong"),
    [
        ({"topic": None}, "topic is missing"),
        ({"topics": ["a"]}, "topic and topics are both given"),
        ({"topicPattern": "a"}, "topic and topicPattern are both given"),
        ({"topic": "a,b"}, "'a,b' is not the name of a topic"),
        ({"topic": None, "topics": []}, "names no topic, or one twice"),
        ({"topic": None, "topics": ["a", "a"]}, "names no topic, or one twice"),
        ({"topic": None, "topics": ["a b"]}, "'a b' is not the name of a topic"),
        ({"topic": None, "topicPattern": "["}, r"'\[' is not a pattern"),
        ({"kafka.bootstrap.servers": None}, "kafka.bootstrap.servers is missing"),
        ({"kafka.bootstrap.servers": ""}, "at least 1 character"),
        ({"startingTimestamp": "2024-01-01", "startingOffsets": "earliest"}, "are both given"),
        ({"endingTimestamp": "2024-01-01", "endingOffsets": "latest"}, "are both given"),
        ({"startingTimestamp": "soon"}, "'soon' is not a time"),
        ({"startingTimestamp": "2024-01-02", "endingTimestamp": "2024-01-01"}, "comes after endingTimestamp"),
        ({"startingOffsets": "first"}, "'first' says no offsets"),
        ({"endingOffsets": "earliest"}, "'earliest' says no offsets"),
        ({"startingOffsets": {"others": {"0": 1}}}, "startingOffsets names the topic 'others', which is not read"),
        ({"startingOffsets": {"orders": {"0": 2}}, "endingOffsets": {"orders": {"0": 1}}}, "comes after endingOffsets"),
        ({"valueFormat": "xml"}, "valueFormat"),
        ({"valueFormat": "avro"}, "Avro values need a schema"),
        ({"valueFormat": "avro", "schema": "id BIGINT"}, "schema holds no Avro schema"),
        ({"valueFormat": "avro", "schema": '{"type": "string"}'}, "schema holds no Avro schema"),
        ({"valueFormat": "string", "schema": "id BIGINT"}, "does not go with valueFormat: string"),
        ({"schema": "id BIGNT"}, "'BIGNT' is no type"),
        ({"confluentHeader": True}, "confluentHeader is for valueFormat: avro only"),
        ({"valueFormat": "string", "onTombstone": "skip"}, "onTombstone does nothing for valueFormat: string"),
        ({"valueFormat": "binary", "onBadRecord": "setAside"}, "onBadRecord does nothing for valueFormat: binary"),
        ({"metadata": ["ofset"]}, "Records have no 'ofset'"),
        ({"metadata": ["key", "key"]}, "twice"),
        ({"minPartitions": 0}, "greater than or equal to 1"),
        ({"groupId": "a"}, "Unknown key 'groupId'"),
    ],
)
def test_what_makes_no_sense_is_refused_by_the_file_alone(params: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValidationError, match=wrong):
        source(**params)


def test_a_schema_comes_as_text_or_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "order.avsc").write_text(AVRO)
    (tmp_path / "order.ddl").write_text("id BIGINT")

    source(schema="id BIGINT")
    source(schemaName=str(tmp_path / "order.ddl"))
    source(valueFormat="avro", schema=AVRO)
    assert source(valueFormat="avro", schemaName=str(tmp_path / "order.avsc")).jar_groups == {"kafka", "avro"}
    for params, wrong in (
        ({"schemaName": "order.avsc"}, "An Avro schema does not go with"),
        ({"schemaName": "order.ddl", "valueFormat": "avro"}, "names no Avro schema"),
        ({"schemaName": "order.avsc", "schema": AVRO, "valueFormat": "avro"}, "are both given"),
        ({"schemaName": "order.ddl", "schema": "id INT"}, "say different columns"),
    ):
        with pytest.raises(ValidationError, match=wrong):
            source(**params | {"schemaName": str(tmp_path / params["schemaName"])})


def test_settings_keep_their_own_names_and_reach_the_client() -> None:
    found = source(**{"kafka.fetch.max.bytes": 1000, "kafka.check.crcs": False}).located(Around())

    assert found.client_options() == {
        "kafka.fetch.max.bytes": "1000",
        "kafka.check.crcs": "false",
        "kafka.bootstrap.servers": "a:9092",
        "kafka.security.protocol": "PLAINTEXT",
    }


@pytest.mark.parametrize(
    "key",
    [
        "kafka.sasl.jaas.config",
        "kafka.ssl.key.password",
        "kafka.ssl.keystore.key",
        "kafka.ssl.keystore.location",
        "kafka.ssl.truststore.certificates",
        "kafka.ssl.truststore.password",
        "kafka.SASL.jaas.config",
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(ValidationError, match="is not for a file") as caught:
        source(**{key: "s3cret"})

    assert "s3cret" not in str(caught.value)
    with pytest.raises(ValidationError, match="stands in the wrong place"):
        source(options={key: "s3cret"})


@pytest.mark.parametrize(
    "key",
    [
        "kafka.auto.offset.reset",
        "kafka.enable.auto.commit",
        "kafka.interceptor.classes",
        "kafka.key.deserializer",
        "kafka.value.deserializer",
        "kafka.sasl.login.callback.handler.class",
    ],
)
def test_a_setting_that_is_ours_is_refused(key: str) -> None:
    with pytest.raises(ValidationError, match=f"{key} cannot be set"):
        source(**{key: "x"})


@pytest.mark.parametrize("key", ["kafka.Isolation.Level", "kafka.fetch.MAX.bytes", "kafka.Bootstrap.servers"])
def test_a_setting_in_other_letters_is_refused_because_spark_would_take_it_for_the_same(key: str) -> None:
    with pytest.raises(ValidationError, match=f"Kafka has no setting {key}") as caught:
        source(**{key: "read_uncommitted"})

    assert f"Write {key.lower()}." in str(caught.value.errors())


def test_a_setting_is_one_value() -> None:
    with pytest.raises(ValidationError, match="is neither text nor a number"):
        source(**{"kafka.fetch.max.bytes": [1]})


@pytest.mark.parametrize(
    "name", ["subscribe", "assign", "startingOffsets", "failOnDataLoss", "includeHeaders", "minPartitions", "mode"]
)
def test_an_option_that_has_a_key_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match=f"The option '{name}' cannot be set"):
        source(options={name: "x"})


def test_a_setting_one_level_too_high_is_told() -> None:
    values = given() | {"kafka.bootstrap.servers": "b:1"}
    with pytest.raises(ValidationError, match=r"'kafka.bootstrap.servers' stands one level too high"):
        TypeAdapter(AnySource).validate_python(values)


def test_the_place_is_the_same_for_all_who_read_or_write_a_topic() -> None:
    assert source().place == "kafka://a:9092/orders"
    assert source(**{"kafka.bootstrap.servers": "B:2, a:1"}).place == "kafka://a:1,b:2/orders"
    assert source(topic=None, topics=["b", "a"]).place == "kafka://a:9092/a,b"
    values = given(**{"kafka.bootstrap.servers": None}) | {"credentialId": "main"}
    assert TypeAdapter(AnySource).validate_python(values).place == "kafka://main/orders"


def test_a_credential_brings_servers_and_login() -> None:
    values = given() | {"credentialId": "kafka"}
    around = Around(bootstrap_servers="b:9093", username="ana", password="s3cret", security_protocol="SASL_SSL")
    found = TypeAdapter(AnySource).validate_python(values).located(around)

    assert isinstance(found, KafkaSource)
    assert found.login.servers == "b:9093"
    assert found.notes == ("bootstrap_servers is b:9093, as credential 'kafka' says; the file says a:9092",)
    assert "s3cret" not in repr(found)
    assert "s3cret" not in str(found.model_dump(by_alias=True))


def test_the_file_may_say_how_the_cluster_is_spoken_to() -> None:
    settings = {"kafka.security.protocol": "SASL_SSL", "kafka.sasl.mechanism": "SCRAM-SHA-256"}
    values = given(**settings, **{"kafka.ssl.endpoint.identification.algorithm": ""}) | {"credentialId": "kafka"}
    found = TypeAdapter(AnySource).validate_python(values).located(Around(username="ana", password="s3cret"))

    assert isinstance(found, KafkaSource)
    assert (found.login.protocol, found.login.mechanism) == ("SASL_SSL", "SCRAM-SHA-256")
    assert found.login.identification == ""


def test_metadata_may_be_one_name_or_a_list_as_text() -> None:
    assert source(metadata="key").metadata == ("key",)
    assert source(metadata='["key", "offset"]').metadata == ("key", "offset")


def test_metadata_must_not_take_the_name_of_a_column() -> None:
    require_names(("id", "offset"), ("offset",))
    with pytest.raises(ConfigError, match="The values have a column '_offset'"):
        require_names(("id", "_Offset"), ("key", "offset"))


def test_an_editor_takes_dotted_names_and_no_unknown_ones() -> None:
    validator = Draft202012Validator(TypeAdapter(AnySource).json_schema())

    assert validator.is_valid(given(**{"kafka.fetch.max.bytes": 5}, startingOffsets={"orders": {"0": 1}}))
    assert not validator.is_valid(given(**{"kafak.fetch.max.bytes": 5}))
    assert not validator.is_valid(given(**{"kafka.fetch.max.bytes": [5]}))
