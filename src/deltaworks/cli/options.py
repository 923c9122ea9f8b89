"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE…", help="Pipeline files, .yaml or .json.", show_default=False)
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A pipeline file, .yaml or .json.", show_default=False)]
Set = Annotated[
    list[str],
    typer.Option("--set", metavar="PATH=VALUE", help="Change a value of the file, as load.connectionParams.path=out."),
]
Conf = Annotated[list[str], typer.Option("--conf", metavar="KEY=VALUE", help="A Spark conf.")]
Master = Annotated[
    str | None,
    typer.Option("--master", help="Where Spark runs: local[*], spark://…, yarn, k8s://….", show_default=False),
]
Env = Annotated[str | None, typer.Option("--env", help="An environment of deltaworks.yaml.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the log while running.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show results and errors only.")]
Runs = Annotated[
    str | None,
    typer.Option(
        "--runs",
        metavar="DIR",
        help="The folder of the run records; the project's where none is given.",
        show_default=False,
    ),
]
CredentialId = Annotated[
    str | None,
    typer.Option("--credential", metavar="ID", help="The vault's credential for that storage.", show_default=False),
]
Uri = Annotated[str, typer.Argument(metavar="URI", help="The table's path or URI.", show_default=False)]
