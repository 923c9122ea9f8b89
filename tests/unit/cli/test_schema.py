from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from tests.unit.pipeline.files import PIPELINE, pipeline
from typer.testing import CliRunner

from deltaworks.cli.main import app

if TYPE_CHECKING:
    from tests.unit.cli.outcome import Cli

EXAMPLES = sorted(
    path for path in (Path(__file__).parents[3] / "examples").glob("*.yaml") if path.name != "deltaworks.yaml"
)

TIME_TRAVEL = """
{
  "pipelineId": "users-snapshot-report",
  "extract": {
    "sourceType": "DeltaLake",
    "connectionParams": {
      "path": "s3a://data-lake/delta/users",
      "timestampAsOf": "2024-01-01 00:00:00"
    },
    "credentialId": "s3-creds"
  },
  "transform": [
    {
      "type": "aggregation",
      "parameters": {
        "groupBy": "[\\"country\\"]",
        "aggregations": "[{\\"column\\": \\"user_id\\", \\"function\\": \\"count\\", \\"alias\\": \\"user_count\\"}]"
      }
    }
  ],
  "load": {
    "sinkType": "S3",
    "connectionParams": {
      "format": "parquet",
      "path": "s3a://reports/users-snapshot-2024-01-01/"
    },
    "credentialId": "s3-creds"
  },
  "writeMode": "Overwrite"
}
"""

PARQUET_TO_UPSERT = """
{
  "pipelineId": "users-delta-upsert",
  "extract": {
    "sourceType": "S3",
    "connectionParams": {
      "format": "parquet",
      "path": "s3a://bucket/users-parquet/"
    }
  },
  "transform": [],
  "load": {
    "sinkType": "DeltaLake",
    "connectionParams": {
      "path": "s3a://bucket/users-delta/",
      "mergeKeys": "[\\"id\\"]",
      "updateCondition": "source.updated_at > target.updated_at",
      "partitionBy": "[\\"country\\", \\"created_date\\"]"
    },
    "credentialId": "s3-creds"
  },
  "writeMode": "Upsert"
}
"""

CHANGE_FEED = """
{
  "pipelineId": "users-cdc-processing",
  "extract": {
    "sourceType": "DeltaLake",
    "connectionParams": {
      "path": "s3a://data-lake/delta/users",
      "readChangeFeed": "true",
      "startingVersion": "100",
      "endingVersion": "150"
    },
    "credentialId": "s3-creds"
  },
  "transform": [],
  "load": {
    "sinkType": "DeltaLake",
    "connectionParams": {
      "format": "delta",
      "path": "s3a://data-lake/delta/user-changes",
      "enableChangeDataFeed": "true"
    }
  },
  "writeMode": "Append"
}
"""


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json.loads(CliRunner().invoke(app, ["schema"]).output)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_schema_says_what_it_is(cli: Cli) -> None:
    schema = cli("schema").json

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert set(schema["required"]) == {"pipelineId", "extract", "load", "writeMode"}


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_schema_accepts_every_example(validator: Draft202012Validator, path: Path) -> None:
    validator.validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_is_valid(cli: Cli, path: Path) -> None:
    assert cli("validate", path).code == 0


@pytest.mark.parametrize("text", [TIME_TRAVEL, PARQUET_TO_UPSERT, CHANGE_FEED])
def test_the_string_spellings_are_valid_everywhere(
    cli: Cli, tmp_path: Path, validator: Draft202012Validator, text: str
) -> None:
    (tmp_path / "users.json").write_text(text)

    validator.validate(json.loads(text))
    assert cli("validate", "users.json").code == 0


@pytest.mark.parametrize("said", [True, "true", False, {}, {"maxFilesPerBatch": 2}])
def test_the_schema_takes_the_short_spelling_of_incremental(validator: Draft202012Validator, said: object) -> None:
    validator.validate({**PIPELINE, "extract": {**PIPELINE["extract"], "incremental": said}})


@pytest.mark.parametrize(
    "values",
    [
        {**PIPELINE, "mode": "Append"},
        pipeline(load__connectionParams__mergKeys=["id"]),
        pipeline(load__sinkTyp="DeltaLake"),
        pipeline(extract__sourceType="Fil"),
        pipeline(extract__connectionParams__format="xml"),
        pipeline(writeMode="append"),
        pipeline(pipelineId="a/b"),
        pipeline(transform=[{"type": "filtr"}]),
        pipeline(transform=[{"type": "filter", "parameters": {"conditon": "x"}}]),
        {name: value for name, value in PIPELINE.items() if name != "load"},
    ],
)
def test_the_schema_refuses_what_validate_refuses(
    cli: Cli, tmp_path: Path, validator: Draft202012Validator, values: dict[str, Any]
) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(values))

    assert not validator.is_valid(values)
    assert cli("validate", "bad.json").code == 2
