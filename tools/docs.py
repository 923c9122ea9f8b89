"""Writes the reference pages from the code: `python -m tools.docs`."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
import typer.main
import yaml

from deltaworks.cli.main import app
from deltaworks.lake.model import Step
from deltaworks.pipeline.config import PipelineConfig, SparkConfig
from deltaworks.pipeline.project import Environment, ProjectConfig
from deltaworks.spark.sinks import AnySink
from deltaworks.spark.sources import AnySource
from deltaworks.spark.transforms import AnyTransform
from deltaworks.spark.transforms.aggregation import Aggregation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

    from deltaworks.lake.model import FileModel

ROOT = Path(__file__).parent.parent
MADE = "<!-- Made by `make docs`; do not edit. -->\n\n"


def main() -> None:
    """Write every page."""
    for name, text in pages().items():
        (ROOT / "docs" / "reference" / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")


def pages() -> dict[str, str]:
    """Every generated page, by its name."""
    return {"pipeline-file.md": pipeline_page(), "commands.md": commands_page()}


def pipeline_page() -> str:
    """The keys of the pipeline and project file."""
    parts = [
        "# The pipeline file\n\nJSON or YAML. Unknown keys are refused.\n",
        "A relative path starts at the folder of the file it stands in. `${NAME}` and `${NAME:default}` are filled\n"
        'from the environment. Lists and numbers may also be written as text: `"[\\"id\\"]"`, `"42"`, `"true"`.\n',
        _table("Pipeline", PipelineConfig),
        _table("spark", SparkConfig),
        *_family("Sources", "`extract`", AnySource),
        *_family("Transforms", "an item of `transform`", AnyTransform),
        _table("an item of `aggregations`", Aggregation),
        *_family("Sinks", "`load`", AnySink),
        "## The project file\n\n`deltaworks.yaml`, found in the folder of a pipeline file or above it.\n",
        _table("deltaworks.yaml", ProjectConfig),
        _table("an environment", Environment),
        _example("deltaworks.yaml"),
    ]
    return MADE + "\n".join(parts)


def _family(title: str, place: str, union: Any) -> Iterator[str]:
    yield f"## {title}\n\nEach is {place}.\n"
    for model in members(union):
        tags = get_args(model.model_fields[_tag(model)].annotation)
        yield _table(" or ".join(f"`{tag}`" for tag in tags), model)
        yield from (_example(path.name) for path in _examples_with(tags, model)[:1])


def members(union: Any) -> tuple[type[FileModel], ...]:
    """The models of a family."""
    found: tuple[type[FileModel], ...] = get_args(get_args(union)[0])
    return found


def _tag(model: type[FileModel]) -> str:
    return next(name for name in ("source_type", "sink_type", "type") if name in model.model_fields)


def _table(title: str, model: type[FileModel]) -> str:
    lines = [f"### {title}\n", f"{inspect.getdoc(model)}\n", "| key | needed | what it means |", "|---|---|---|"]
    meanings = model.meanings()
    for key, field in keys(model).items():
        meaning = " ".join(meanings[key.rpartition(".")[2]].split())
        lines.append(f"| `{key}` | {'yes' if field.is_required() else ''} | {meaning} |")
    return "\n".join(lines) + "\n"


def keys(model: type[FileModel]) -> dict[str, FieldInfo]:
    """The keys of a part of the file, as they are nested there."""
    found = {field.alias or name: field for name, field in model.model_fields.items()}
    if not issubclass(model, Step):
        return found
    beside = {key: field for key, field in found.items() if key in model.outer}
    below = {f"{model.nested_under}.{key}": field for key, field in found.items() if key not in model.outer}
    return beside | below


def _examples_with(tags: tuple[str, ...], model: type[FileModel]) -> list[Path]:
    paths = sorted((ROOT / "docs" / "examples").glob("*.yaml"))
    return [path for path in paths if set(tags) & set(_tags(yaml.safe_load(path.read_text()), _tag(model)))]


def _tags(pipeline: dict[str, Any], tag: str) -> Iterator[str | None]:
    yield {
        "source_type": pipeline.get("extract", {}).get("sourceType"),
        "sink_type": pipeline.get("load", {}).get("sinkType"),
    }.get(tag)
    yield from (step["type"] for step in pipeline.get("transform", []) if tag == "type")


def _example(name: str) -> str:
    text = (ROOT / "docs" / "examples" / name).read_text(encoding="utf-8")
    return f"```yaml\n{text}```\n"


def commands_page() -> str:
    """Every command as `--help` shows it."""
    command = typer.main.get_command(app)
    parts = ["# Commands\n", _exit_codes(), *_helps(command, ("deltaworks",))]
    return MADE + "\n".join(parts)


def _exit_codes() -> str:
    return (
        "Exit codes: 0 done, 1 a run failed, 2 the file or the arguments are wrong, 3 the machine lacks something\n"
        "(Java, jars, a server, a password), 4 refused for safety, 130 interrupted.\n"
    )


def _helps(command: Any, words: tuple[str, ...]) -> Iterator[str]:
    context = click.Context(command, info_name=" ".join(words), terminal_width=100, max_content_width=100)
    yield f"## {' '.join(words)}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    for name, inner in getattr(command, "commands", {}).items():
        yield from _helps(inner, (*words, name))


if __name__ == "__main__":
    main()
