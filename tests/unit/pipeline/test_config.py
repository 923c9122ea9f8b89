from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.pipeline.files import PIPELINE, TEXT, config, pipeline, read, saved

from deltaworks.errors import ConfigError
from deltaworks.lake.mode import WriteMode
from deltaworks.pipeline.checking import InvalidFileError, checked
from deltaworks.pipeline.config import ExtractPart, LoadPart, config_of
from deltaworks.pipeline.document import Document, read_document
from deltaworks.spark.sinks.delta import DeltaSink
from deltaworks.spark.sources.delta import DeltaSource

if TYPE_CHECKING:
    from pathlib import Path

UPSERT = TEXT.replace("Append", "Upsert")


def problems(values: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(InvalidFileError) as caught:
        config(values)
    return list(caught.value.problems)


def refusal(folder: Path, text: str) -> tuple[str, str]:
    """What a file is refused with: two lines, the first with file and line."""
    with pytest.raises(ConfigError) as caught:
        read(folder, text)
    assert "\n" not in str(caught.value) + caught.value.hint
    assert caught.value.exit_code == 2
    return str(caught.value), caught.value.hint


# What is valid


def test_a_small_file_is_a_pipeline(tmp_path: Path) -> None:
    found = read(tmp_path, TEXT)

    assert found.pipeline_id == "orders"
    assert found.write_mode is WriteMode.APPEND
    assert found.format_version == 1
    assert found.transform == ()
    assert found.credential_ids() == frozenset()


def test_json_and_yaml_say_the_same(tmp_path: Path) -> None:
    as_json = saved(tmp_path, json.dumps(PIPELINE, indent="\t"), "orders.json")

    assert config_of(read_document(as_json), {}) == read(tmp_path, TEXT)


def test_paths_start_at_the_folder_of_the_file(tmp_path: Path) -> None:
    found = read(tmp_path, TEXT)

    assert (found.extract.place, found.load.place) == (str(tmp_path / "in.csv"), str(tmp_path / "out"))


def test_without_a_file_paths_start_at_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert config().load.place == str(tmp_path / "out")


def test_variables_are_filled_in_before_anything_is_checked(tmp_path: Path) -> None:
    text = TEXT.replace("path: out", "path: ${LAKE}/out\n    mergeKeys: ${KEYS:id}").replace("Append", "${MODE}")

    found = read(tmp_path, text, {"LAKE": "s3a://lake", "MODE": "Upsert"})

    assert found.load.place == "s3a://lake/out"
    assert isinstance(found.load, DeltaSink)
    assert found.load.merge_keys == ("id",)


def test_the_credentials_of_both_ends_are_named() -> None:
    found = config(pipeline(extract__credentialId="pg", load__credentialId="s3"))

    assert found.credential_ids() == {"pg", "s3"}


@pytest.mark.parametrize("spelled", [1, "1"])
def test_the_known_format_may_be_named(spelled: object) -> None:
    assert config(pipeline(formatVersion=spelled)).format_version == 1


@pytest.mark.parametrize("pipeline_id", ["a", "orders-daily", "orders_v1.2", "A" * 128, "2024", "-"])
def test_a_pipeline_may_have_any_simple_name(pipeline_id: str) -> None:
    assert config(pipeline(pipelineId=pipeline_id)).pipeline_id == pipeline_id


def test_spark_may_be_set_up_in_the_file() -> None:
    values = {"master": "local[2]", "conf": {"spark.sql.shuffle.partitions": 4, "x": True}, "jars": "provided"}

    found = config(pipeline(spark=values)).spark

    assert (found.master, found.jars) == ("local[2]", "provided")
    assert found.conf == {"spark.sql.shuffle.partitions": 4, "x": True}


# What is not


def test_each_problem_is_two_lines_with_file_and_line(tmp_path: Path) -> None:
    message, hint = refusal(tmp_path, TEXT.replace("path: out", "pth: out\n    path: out"))

    assert message == "orders.yaml:10: Unknown key 'pth' in load.connectionParams."
    assert hint == "Did you mean 'path'?"


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ("File", "Fil", "orders.yaml:3: extract: sourceType 'Fil' is not known.", "Did you mean 'File'?"),
        ("File", "Oracle", "orders.yaml:3: extract: sourceType 'Oracle' is not known.", "Known: "),
        ("  sourceType: File\n", "", "orders.yaml:2: extract.sourceType is missing.", "Add sourceType."),
        ("    format: csv\n", "", "orders.yaml:2: extract.format is missing.", "Add format."),
        ("format: csv", "format: xml", "extract.connectionParams.format: 'xml' is not known.", "'csv', 'json'"),
        ("Append", "append", "orders.yaml:11: writeMode: 'append' is not known.", "Write 'Append', 'Overwrite'"),
        ("writeMode: Append\n", "", "orders.yaml:1: writeMode is missing.", "Add writeMode."),
        ("pipelineId: orders\n", "", "orders.yaml:1: pipelineId is missing.", "Add pipelineId."),
        ("path: out", "path: 5", "orders.yaml:10: load.connectionParams.path: this must be text.", "quotes"),
        ("path: out", "path: ''", "orders.yaml:10: load.connectionParams.path: '' is not a path.", "variable"),
        ("Append", "Append\nmode: x", "orders.yaml:12: Unknown key 'mode'.", "writeMode"),
        ("Append", "Append\ntransform: x", "orders.yaml:12: transform: this must be a list.", "[a, b]"),
        ("Append", "Append\nspark: local", "orders.yaml:12: spark: this must hold keys and values.", "`key: value`"),
        ("Append", "Append\nspark: {jars: no}", "spark.jars: 'no' is not known.", "'managed' or 'provided'"),
        ("Append", "Append\nspark: {conf: {a: [1]}}", "orders.yaml:12: spark.conf.a", ""),
        ("Append", "Append\nformatVersion: 2", "formatVersion: 2 is newer than this deltaworks", "Upgrade deltaworks."),
        ("Append", "Append\nformatVersion: 0", "formatVersion: 0 is no version of this format.", "Write 1"),
        ("Append", "Append\nformatVersion: x", "formatVersion: 'x' is not a whole number.", "42"),
        ("Append", "Append\ntransform: [{}]", "orders.yaml:12: transform.0.type is missing.", "Add type."),
        ("Append", "Append\ntransform: [{type: filtr}]", "transform.0: type 'filtr' is not known.", "'filter'"),
        ("Append", "Append\ntransform: [{type: filter}]", "transform.0.condition is missing.", "Add condition."),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do(tmp_path: Path, old: str, new: str, message: str, hint: str) -> None:
    found = refusal(tmp_path, TEXT.replace(old, new))

    assert message in found[0]
    assert found[0].startswith("orders.yaml:")
    assert hint in found[1]


@pytest.mark.parametrize("text", ["- a\n", "hello\n", "~\n", "5\n"])
def test_a_file_without_keys_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text)[0] == "orders.yaml:1: this holds no keys."


@pytest.mark.parametrize("pipeline_id", ["a/b", "../a", "a..b", "..", ".", "", "a b", "ü", "A" * 129, "a\n", "a#b"])
def test_a_name_that_could_leave_its_folder_is_refused(pipeline_id: str) -> None:
    [(message, _)] = problems(pipeline(pipelineId=pipeline_id))

    assert message.startswith("pipelineId: ")


def test_an_upsert_needs_keys(tmp_path: Path) -> None:
    message, hint = refusal(tmp_path, UPSERT)

    assert message == "orders.yaml:7: load: Upsert needs mergeKeys."
    assert hint == 'Add mergeKeys: ["id"] under load.connectionParams.'


def test_files_cannot_be_upserted(tmp_path: Path) -> None:
    message, _ = refusal(
        tmp_path, UPSERT.replace("DeltaLake", "File").replace("path: out", "path: out\n    format: csv")
    )

    assert message == "orders.yaml:7: load: Files cannot be upserted."


@pytest.mark.parametrize(
    ("spelled", "expected"),
    [("id", ("id",)), ("[id]", ("id",)), ('"[\\"id\\"]"', ("id",)), ("[id, date]", ("id", "date"))],
)
def test_merge_keys_may_be_spelled_in_four_ways(tmp_path: Path, spelled: str, expected: tuple[str, ...]) -> None:
    found = read(tmp_path, UPSERT.replace("path: out", f"path: out\n    mergeKeys: {spelled}"))

    assert isinstance(found.load, DeltaSink)
    assert found.load.merge_keys == expected


def test_merge_keys_with_a_comma_are_refused_with_the_right_spelling(tmp_path: Path) -> None:
    message, hint = refusal(tmp_path, UPSERT.replace("path: out", 'path: out\n    mergeKeys: "id,date"'))

    assert message == "orders.yaml:11: load.connectionParams.mergeKeys: 'id,date' is not a column name."
    assert hint == 'For several columns write ["id", "date"].'


def test_a_version_and_a_time_together_are_refused(tmp_path: Path) -> None:
    source = "DeltaLake\n  connectionParams:\n    path: in\n    versionAsOf: '3'\n    timestampAsOf: 2024-01-01\n"
    text = f"pipelineId: orders\nextract:\n  sourceType: {source}" + TEXT[TEXT.index("load:") :]

    message, hint = refusal(tmp_path, text)

    assert message == "orders.yaml:2: extract: versionAsOf and timestampAsOf are both given."
    assert hint == "Leave one of them out."


@pytest.mark.parametrize("option", ["txnAppId", "txnVersion", "userMetadata"])
def test_our_own_marks_cannot_be_set_as_options(tmp_path: Path, option: str) -> None:
    message, _ = refusal(tmp_path, TEXT.replace("sinkType:", f"options: {{{option}: x}}\n  sinkType:"))

    assert message == f"orders.yaml:7: load: The option {option!r} is set by deltaworks itself."


def test_saying_the_same_thing_twice_differently_is_refused(tmp_path: Path) -> None:
    message, _ = refusal(tmp_path, TEXT.replace("sinkType:", "path: elsewhere\n  sinkType:"))

    assert message == "orders.yaml:7: load: 'path' is said twice, as 'elsewhere' and as 'out'."


@pytest.mark.parametrize("inner", [5, "path", ["path"], True])
@pytest.mark.parametrize("end", ["extract", "load"])
def test_parameters_that_are_no_keys_are_refused(end: str, inner: object) -> None:
    [(message, _)] = problems(pipeline(**{f"{end}__connectionParams": inner}))

    assert message == f"{end}: connectionParams must hold keys and values."


@pytest.mark.parametrize("end", [5, "File", [], None, True])
def test_an_end_that_is_no_mapping_is_refused(end: object) -> None:
    [(message, _)] = problems(pipeline(extract=end))

    assert message == "extract: this must hold keys and values."


@pytest.mark.parametrize("kind", [5, None, [], {}, True])
def test_a_type_that_is_no_name_is_refused(kind: object) -> None:
    [(message, _)] = problems(pipeline(extract__sourceType=kind))

    assert message.startswith("extract")


def test_all_problems_are_found_at_once(tmp_path: Path) -> None:
    text = TEXT.replace("csv", "xml").replace("path: out", "pth: out").replace("Append", "Add")

    with pytest.raises(InvalidFileError) as caught:
        read(tmp_path, text)

    places = [message.partition(" ")[0] for message, _ in caught.value.problems]
    assert places == ["orders.yaml:5:", "orders.yaml:10:", "orders.yaml:11:"]
    assert caught.value.hint.endswith("(2 more: deltaworks validate lists them.)")


def test_what_follows_from_another_problem_is_not_told() -> None:
    values = pipeline(
        transform=[{"type": "aggregation", "parameters": {"aggregations": [{"column": "id", "function": "cnt"}]}}]
    )

    assert [message for message, _ in problems(values)] == [
        "transform.0.parameters.aggregations.0.function: 'cnt' is not known."
    ]


def test_a_problem_inside_json_that_is_text_is_told_where_the_text_is(tmp_path: Path) -> None:
    step = '{type: aggregation, parameters: {aggregations: "[{\\"column\\": \\"id\\", \\"function\\": \\"cnt\\"}]"}}'

    message, _ = refusal(tmp_path, f"{TEXT}transform:\n  - {step}\n")

    assert message.startswith("orders.yaml:13: transform.0.parameters.aggregations.0.function: 'cnt' is not known.")


def test_a_refusal_survives_pickling() -> None:
    with pytest.raises(InvalidFileError) as caught:
        config(pipeline(writeMode="x", mode="y"))

    revived = pickle.loads(pickle.dumps(caught.value))

    assert (str(revived), revived.hint, revived.problems) == (
        str(caught.value),
        caught.value.hint,
        caught.value.problems,
    )


# Parts of a file


def test_a_source_may_stand_alone() -> None:
    source = {"sourceType": "DeltaLake", "path": "s3a://lake/orders", "connectionParams": {"versionAsOf": "3"}}
    values = {"extract": source}

    found = checked(ExtractPart, Document(values)).extract

    assert isinstance(found, DeltaSource)
    assert (found.path, found.version_as_of) == ("s3a://lake/orders", 3)


def test_a_key_that_belongs_one_level_deeper_is_refused_with_where_to_put_it() -> None:
    values = {"extract": {"sourceType": "DeltaLake", "path": "in", "versionAsOf": 3}}

    with pytest.raises(InvalidFileError, match="'versionAsOf' stands one level too high") as caught:
        checked(ExtractPart, Document(values))

    assert caught.value.hint == "Move it below connectionParams."


def test_a_sink_may_stand_alone_with_its_mode() -> None:
    values = {"load": PIPELINE["load"], "writeMode": "Overwrite"}

    assert checked(LoadPart, Document(values)).write_mode is WriteMode.OVERWRITE


def test_a_sink_alone_is_checked_against_its_mode() -> None:
    with pytest.raises(ConfigError, match="Upsert needs mergeKeys"):
        checked(LoadPart, Document({"load": PIPELINE["load"], "writeMode": "Upsert"}))


@pytest.mark.parametrize("text", ["a: 1\n", "{}\n"])
def test_a_place_that_lies_outside_the_file_is_told_where_the_file_is(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text)[0].startswith("orders.yaml:1: ")


@pytest.mark.parametrize("part", ["extract", "load"])
def test_a_secret_of_the_storage_is_refused_and_not_repeated(part: str) -> None:
    ((message, hint),) = problems(pipeline(**{f"{part}__options": {"fs.s3a.secret.key": "canary"}}))

    assert message == f"{part}.options: `options` holds a secret, fs.s3a.secret.key."
    assert "vault set" in hint


# Batch by batch

NEW: dict[str, Any] = {"sourceType": "DeltaLake", "connectionParams": {"path": "in"}, "incremental": True}
TABLE = {"host": "db", "database": "shop", "table": "t"}
FROM_DATABASE = {"sourceType": "PostgreSQL", "connectionParams": TABLE}
INTO_DATABASE = {"sinkType": "PostgreSQL", "connectionParams": TABLE}
TOPIC = {"topic": "t", "kafka.bootstrap.servers": "broker:9092"}
FILES = {"format": "csv", "path": "files"}
DERBY = {"url": "jdbc:derby:memory:x", "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver", "table": "t"}


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        ({"writeMode": "Overwrite"}, "Every batch would replace the rows of the one before", "dynamic"),
        ({"writeMode": "Overwrite", "load": INTO_DATABASE}, "Every batch would replace the one before", "Append"),
        ({"load": {"sinkType": "File", "connectionParams": FILES}}, "This sink keeps no position", "Delta table"),
        ({"load": {"sinkType": "Kafka", "connectionParams": TOPIC}}, "This sink keeps no position", "Delta table"),
        ({"load": {"sinkType": "JDBC", "connectionParams": DERBY}}, "This sink keeps no position", "Delta table"),
    ],
)
def test_a_target_that_batches_cannot_go_to_is_refused(changes: dict[str, Any], message: str, hint: str) -> None:
    [(said, told)] = problems(pipeline(extract=NEW, **changes))

    assert said.startswith(f"load: {message}")
    assert hint in told


def test_new_files_do_not_go_into_a_database() -> None:
    files = {"sourceType": "File", "connectionParams": FILES, "incremental": True}

    [(said, told)] = problems(pipeline(extract=files, load=INTO_DATABASE))

    assert said == "extract.incremental: New files are known by lists beside the target, which has no folder."
    assert told == "Load into a Delta table."


@pytest.mark.parametrize("incremental", [True, None])
def test_an_upsert_into_a_database_takes_no_feed_with_deletes(incremental: bool | None) -> None:
    start = {} if incremental else {"startingVersion": 0}
    feed = {"path": "in", "readChangeFeed": True, **start}
    extract = {"sourceType": "DeltaLake", "connectionParams": feed, "incremental": incremental}
    upsert = {
        "load": {"sinkType": "PostgreSQL", "connectionParams": {**TABLE, "mergeKeys": "id"}},
        "writeMode": "Upsert",
    }

    [(said, told)] = problems(pipeline(extract=extract, **upsert))

    assert said.startswith("load: An Upsert into a database deletes nothing")
    assert "ignoreDeletes: true" in told
    assert config(pipeline(extract=extract, load=INTO_DATABASE)).extract.tells_changes
    feed["ignoreDeletes"] = True
    assert not config(pipeline(extract=extract, **upsert)).extract.tells_changes


COUNT = {"groupBy": ["id"], "aggregations": [{"column": "id", "function": "count"}]}
OVER_MANY_ROWS = {
    "aggregation": COUNT,
    "window": {"columns": {"n": "row_number()"}, "partitionBy": ["id"], "orderBy": ["id"]},
    "pivot": {**COUNT, "column": "kind", "values": ["a"]},
    "union": {"inputs": ["more"]},
    "sql": {"query": "SELECT * FROM input"},
}


@pytest.mark.parametrize("kind", OVER_MANY_ROWS)
def test_a_step_that_would_see_one_batch_only_is_refused_unless_that_is_meant(kind: str) -> None:
    step = {"type": kind, "parameters": OVER_MANY_ROWS[kind]}
    inputs = {"more": {"sourceType": "DeltaLake", "path": "more"}}

    [(said, told)] = problems(pipeline(extract=NEW, inputs=inputs, transform=[step]))

    assert said == f"transform.0: {kind} would see the rows of one batch only."
    assert told.startswith("Write perBatch: true beside its type")
    assert config(pipeline(extract=NEW, inputs=inputs, transform=[{**step, "perBatch": True}]))
    assert config(pipeline(inputs=inputs, transform=[step]))


def test_a_join_needs_no_other_row_of_its_batch() -> None:
    join = {"type": "join", "parameters": {"input": "more", "on": ["id"]}}
    inputs = {"more": {"sourceType": "DeltaLake", "path": "more"}}

    assert config(pipeline(extract=NEW, inputs=inputs, transform=[join])).transform[0].uses == ("more",)


@pytest.mark.parametrize("name", ["versionAsOf", "endingVersion"])
def test_what_is_new_has_no_end(name: str) -> None:
    extract = {**NEW, "connectionParams": {"path": "in", "readChangeFeed": True, name: 3}}
    [(message, _)] = problems(pipeline(extract=extract))

    assert message.endswith(f"{name} does not go with incremental.")


def test_an_input_is_read_whole() -> None:
    [(said, told)] = problems(pipeline(inputs={"more": NEW}))

    assert said == "inputs.more.incremental: An input is read whole."
    assert "only `extract` can have it" in told


@pytest.mark.parametrize("said", [False, "false", None])
@pytest.mark.parametrize("source", [NEW, {**FROM_DATABASE, "incremental": None}])
def test_incremental_may_be_switched_off(source: dict[str, Any], said: object) -> None:
    assert config(pipeline(extract={**source, "incremental": said})).extract.incremental is None


@pytest.mark.parametrize("said", [True, "true", {}, {"lag": "1h"}, {"cursorColumn": ""}, {"cursorColumn": None}])
def test_new_rows_of_a_database_are_told_by_a_column(said: object) -> None:
    [(message, hint)] = problems(pipeline(extract={**FROM_DATABASE, "incremental": said}))

    assert message.startswith("extract.incremental: cursorColumn is missing")
    assert hint.startswith("Write incremental: {cursorColumn: updated_at}")


def test_rows_that_are_read_again_are_not_appended() -> None:
    extract = {**FROM_DATABASE, "incremental": {"cursorColumn": "at", "lag": "10m"}}

    [(message, hint)] = problems(pipeline(extract=extract))

    assert message == "extract.incremental: lag reads rows again, which Append would land twice."
    assert hint == "Use Upsert, or leave lag out."


def of_new(kind: str, **incremental: object) -> dict[str, Any]:
    params = {"DeltaLake": {"path": "in"}, "Kafka": {**TOPIC, "schema": "id INT"}, "File": FILES, "PostgreSQL": TABLE}
    return {"sourceType": kind, "connectionParams": params[kind], "incremental": incremental}


@pytest.mark.parametrize(
    ("extract", "key", "meant"),
    [
        (of_new("DeltaLake", maxFilePerBatch=1), "maxFilePerBatch", "maxFilesPerBatch"),
        (of_new("DeltaLake", maxRecordsPerBatch=1), "maxRecordsPerBatch", "maxFilesPerBatch"),
        (of_new("Kafka", maxRecordPerBatch=1), "maxRecordPerBatch", "maxRecordsPerBatch"),
        (of_new("File", maxBytes="1GB"), "maxBytes", "maxBytesPerBatch"),
        (of_new("PostgreSQL", cursorColumn="at", lagg="1h"), "lagg", "lag"),
        (of_new("PostgreSQL", cursorColum="at"), "cursorColum", "cursorColumn"),
    ],
)
def test_a_misspelled_word_about_batches_is_told_with_the_one_that_was_meant(
    extract: dict[str, Any], key: str, meant: str
) -> None:
    [(message, hint)] = problems(pipeline(extract=extract))

    assert (message, hint) == (f"Unknown key {key!r} in extract.incremental.", f"Did you mean {meant!r}?")


@pytest.mark.parametrize("most", [0, -1, "0"])
@pytest.mark.parametrize(
    ("kind", "key", "others"),
    [
        ("DeltaLake", "maxFilesPerBatch", {}),
        ("Kafka", "maxRecordsPerBatch", {}),
        ("File", "maxFilesPerBatch", {}),
        ("PostgreSQL", "maxRowsPerBatch", {"cursorColumn": "id"}),
    ],
)
def test_a_batch_holds_something(kind: str, key: str, others: dict[str, Any], most: object) -> None:
    [(message, hint)] = problems(pipeline(extract=of_new(kind, **others, **{key: most})))

    assert message == f"extract.incremental.{key}: {most!r} is too small."
    assert hint == "Write 1 or more."


@pytest.mark.parametrize("most", [0, -1, "0GB", "-1GB", "much"])
def test_a_batch_of_files_holds_some_bytes(most: object) -> None:
    [(message, hint)] = problems(pipeline(extract=of_new("File", maxBytesPerBatch=most)))

    assert message == f"extract.incremental.maxBytesPerBatch: {most!r} is not a size."
    assert hint == 'Write "128MB", or a number of bytes.'


def test_a_number_may_be_too_large_too() -> None:
    [(message, hint)] = problems(pipeline(extract={**FROM_DATABASE, "connectionParams": {**TABLE, "connections": 65}}))

    assert message == "extract.connectionParams.connections: 65 is too large."
    assert hint == "Write 64 or less."
