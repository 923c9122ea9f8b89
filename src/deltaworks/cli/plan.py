"""`deltaworks plan`: what a run would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.cli.options import Conf, Env, File, Json, Master, Quiet, Set
from deltaworks.cli.output import named, print_facts, print_json, print_rows, to_stdout
from deltaworks.cli.result import WOULD, rule_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deltaworks.pipeline.plan import Plan
    from deltaworks.runs.result import Kept


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
        parts = space.parts(config)
        progress.say(f"{config.pipeline_id}: starting Spark")
        plans = [space.plan(part) for part in parts]
    if as_json:
        print_json([plan.to_dict() for plan in plans] if config.extract.several else plans[0].to_dict())
        return
    for plan in plans:
        _show(plan, plan.kept(config.expect))


def _show(plan: Plan, rules: Sequence[Kept] = ()) -> None:
    write = plan.write
    inputs = [("with", f"{name}: {reads}") for name, reads in plan.inputs.items()]
    print_facts(
        [
            ("pipeline", plan.pipeline_id),
            ("reads", plan.reads),
            *inputs,
            *named("does", plan.steps),
            *ahead(plan, rules),
        ]
    )
    print_rows(
        ("column", "type"),
        [(column.name, column.type) for column in write.columns],
        title="schema of the target after it",
    )
    if write.statement:
        to_stdout().print(write.statement, markup=False)


def ahead(plan: Plan, rules: Sequence[Kept]) -> Iterator[tuple[str, object]]:
    """What becomes of the rows after the last step."""
    write = plan.write
    if plan.rows is not None:
        yield "rows", plan.rows
    yield from named("rules", [rule_line(rule, WOULD) for rule in rules])
    yield "writes", write.action
    yield "target", "not there yet" if write.version is None else f"now at version {write.version}"
    if plan.mode == "Upsert" and write.files_before is not None and write.files_before > 1:
        yield "files", f"at most {write.files_read:,} of {write.files_before:,} files would be read and rewritten"
    yield from named("note", (*plan.notes, *write.notes))
    yield from named("then", plan.after)
