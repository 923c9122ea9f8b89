"""`deltaworks plan`: what a run would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.cli.options import Conf, Env, File, Json, Master, Quiet, Set
from deltaworks.cli.output import print_facts, print_json, print_rows, to_stdout

if TYPE_CHECKING:
    from deltaworks.pipeline.plan import Plan


def plan(
    file: File,
    settings: Set = [],
    conf: Conf = [],
    master: Master = None,
    environment: Env = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what a pipeline would read, do and write. Writes nothing."""
    from deltaworks.cli.edge import workspace
    from deltaworks.cli.progress import Progress
    from deltaworks.pipeline.overrides import parsed

    with Progress(quiet=quiet or as_json) as progress:
        space = workspace(file, master=master, conf=conf, environment=environment, progress=progress)
        config = space.read(file, parsed(settings))
        progress.say(f"{config.pipeline_id}: starting Spark")
        found = space.plan(config)
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found)


def _show(plan: Plan) -> None:
    write = plan.write
    version = "not there yet" if write.version is None else f"now at version {write.version}"
    inputs = [("with", f"{name}: {reads}") for name, reads in plan.inputs.items()]
    steps = [("does" if number == 0 else "", step) for number, step in enumerate(plan.steps)]
    print_facts(
        [
            ("pipeline", plan.pipeline_id),
            ("reads", plan.reads),
            *inputs,
            *steps,
            ("writes", write.action),
            ("target", version),
        ]
    )
    print_rows(
        ("column", "type"),
        [(column.name, column.type) for column in write.columns],
        title="schema of the target after it",
    )
    if write.statement:
        to_stdout().print(write.statement, markup=False)
