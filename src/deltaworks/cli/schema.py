"""`deltaworks schema`: the JSON Schema of the pipeline file."""

from __future__ import annotations

from deltaworks.cli.output import print_json


def schema() -> None:
    """Print the JSON Schema of the pipeline file, for editors."""
    from deltaworks.pipeline.config import PipelineConfig

    found = PipelineConfig.model_json_schema(by_alias=True)
    print_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **found})
