"""Writes the reference pages from the code: `python -m tools.docs`."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
import typer.main

from deltaworks.cli.main import app
from deltaworks.lake.after import After
from deltaworks.lake.expectation import Expectation
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import Step
from deltaworks.pipeline.config import PipelineConfig
from deltaworks.pipeline.project import Environment, ProjectConfig
from deltaworks.pipeline.records import RunsPlace
from deltaworks.pipeline.spark import SparkConfig
from deltaworks.pipeline.vaults import VAULTS
from deltaworks.spark.conflicts import REACTIONS, Conflict, Reaction
from deltaworks.spark.sinks import SINKS
from deltaworks.spark.sources import SOURCES
from deltaworks.spark.transforms import TRANSFORMS
from deltaworks.spark.transforms.aggregation import Aggregation
from tools import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

    from deltaworks.lake.family import OneOf
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
    return {"pipeline-file.md": pipeline_page(), "commands.md": commands_page(), "conflicts.md": conflicts_page()}


def pipeline_page() -> str:
    """The keys of the pipeline and project file."""
    parts = [
        "# The pipeline file\n\nJSON or YAML. Unknown keys are refused.\n",
        "A relative path starts at the folder of the file it stands in. `${NAME}` and `${NAME:default}` are filled\n"
        'from the environment. Lists and numbers may also be written as text: `"[\\"id\\"]"`, `"42"`, `"true"`.\n',
        _table("Pipeline", PipelineConfig),
        _table("spark", SparkConfig),
        *_family("Sources", "`extract`", SOURCES),
        *_family("Transforms", "an item of `transform`", TRANSFORMS),
        _table("an item of `aggregations`", Aggregation),
        "## Rules\n",
        *_shown("an item of `expect`", Expectation),
        *_family("Sinks", "`load`", SINKS),
        *_shown("`after`", After),
        "## The project file\n\n`deltaworks.yaml`, found in the folder of a pipeline file or above it.\n",
        _table("deltaworks.yaml", ProjectConfig),
        _table("an environment", Environment),
        _table("`runs`, where it is more than a path", RunsPlace),
        *(_table(f"`vault` of type `{tag}`", VAULTS.model(tag)) for tag in VAULTS.members),
        _example(examples.PROJECT),
    ]
    return MADE + "\n".join(parts)


def _family(title: str, place: str, family: OneOf) -> Iterator[str]:
    yield f"## {title}\n\nEach is {place}.\n"
    for model in family.models():
        tags = [tag for tag in family.members if family.model(tag) is model]
        title = " or ".join(f"`{tag}`" for tag in tags)
        yield from _shown(title, model)
        if (incremental := incremental_of(model)) is not None:
            yield _table(f"`incremental` of {title}", incremental)


def incremental_of(model: type[FileModel]) -> type[FileModel] | None:
    """What can be said about reading what is new, of a source that can do that."""
    field = model.model_fields.get("incremental")
    kinds = [] if field is None else [kind for kind in get_args(field.annotation) if kind is not type(None)]
    return kinds[0] if kinds and kinds[0].model_fields else None


def _shown(title: str, model: type[FileModel]) -> Iterator[str]:
    yield _table(title, model)
    yield _example(examples.fullest(model))


def _table(title: str, model: type[FileModel]) -> str:
    heads = ["| key | needed | what it means | example |", "|---|---|---|---|"]
    meanings = model.meanings()
    rows = []
    for key, field in keys(model).items():
        name = key.removeprefix(f"{model.nested_under}.") if issubclass(model, Step) else key
        needed = "yes" if field.is_required() else ""
        rows.append(f"| `{key}` | {needed} | {' '.join(meanings[name].split())} | {_link(model, name)} |")
    return "\n".join([f"### {title}\n", f"{inspect.getdoc(model)}\n", *heads, *rows]) + "\n"


def _link(model: type[FileModel], key: str) -> str:
    found = examples.shortest(model, key)
    return f"[{found.stem}](../examples/{found.name})" if found else ""


def keys(model: type[FileModel]) -> dict[str, FieldInfo]:
    """The keys of a part of the file, as they are nested there."""
    found = {field.alias or name: field for name, field in model.model_fields.items()}
    if not issubclass(model, Step):
        return found
    beside = {key: field for key, field in found.items() if key in model.outer}
    below = {f"{model.nested_under}.{key}": field for key, field in found.items() if key not in model.outer}
    return beside | below


def _example(path: Path) -> str:
    return f"```yaml\n{path.read_text(encoding='utf-8')}```\n"


def conflicts_page() -> str:
    """What a load does about each kind of conflict, in each write mode."""
    modes = [mode.value for mode in WriteMode]
    rows = [
        " | ".join([f"| `{conflict}`", CONFLICTS[conflict], *(f"{reactions[mode]}" for mode in WriteMode)]) + " |"
        for conflict, reactions in REACTIONS.items()
    ]
    parts = [
        "# When another writer was faster\n",
        *(f"- **{reaction}**: {REACTIONS_MEAN[reaction]}" for reaction in Reaction),
        "\nA load tries at most `maxCommitAttempts` times, 10 by default, and waits a moment before each.\n",
        f"| conflict | what the other writer did | {' | '.join(modes)} |",
        "|---|---|" + "---|" * len(modes),
        *rows,
    ]
    return MADE + "\n".join(parts) + "\n"


REACTIONS_MEAN = {
    Reaction.RETRY: "the same again. Spark finds out anew which rows and files are meant.",
    Reaction.REPLAN: "look whether the rows still fit the table. If they do, try again; if not, the load fails.",
    Reaction.STOP: "no other try. The table's log then says whether the key has landed.",
}
CONFLICTS = {
    Conflict.WRITE: "committed something; Delta does not say what",
    Conflict.APPEND: "added rows to what this load has read",
    Conflict.DELETE_READ: "took away files that this load has read",
    Conflict.DELETE_DELETE: "took away files that this load takes away too",
    Conflict.TRANSACTION: "committed the same key",
    Conflict.METADATA: "changed columns or properties",
    Conflict.PROTOCOL: "changed what the table needs of its readers and writers",
    Conflict.CREATED: "made the table",
}


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
