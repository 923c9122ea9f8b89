"""`deltaworks vault`: credentials in a sealed file."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from deltaworks.cli.options import Env, Json
from deltaworks.cli.output import print_json, print_rows, to_stdout
from deltaworks.errors import ConfigError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import SecretStr

    from deltaworks.pipeline.vaults import VaultConfig
    from deltaworks.vault.file import FileVault

app = typer.Typer(help="Keep credentials in a sealed file.", no_args_is_help=True)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The credential, by the name that credentialId has.", show_default=False)
]
Fields = Annotated[
    list[str],
    typer.Argument(
        metavar="FIELD", help="The names of the values, as user password; password if not given.", show_default=False
    ),
]
Kind = Literal["keyring", "file", "passphrase"]
Key = Annotated[
    Kind | None,
    typer.Option("--key", help="What opens the vault; what the project says if not given.", show_default=False),
]
Piped = Annotated[
    bool, typer.Option("--stdin", help="Read the value from stdin; of several fields, a JSON object of them.")
]
PipedPassphrase = Annotated[bool, typer.Option("--stdin", help="Read the new passphrase from stdin.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command("init")
def init(key: Key = None, piped: PipedPassphrase = False, environment: Env = None) -> None:
    """Make the vault file. What opens it is the keyring of the operating system if nothing else is said."""
    vault, said = _vault(environment, _new_passphrase(piped=piped, first=True))
    kind = _agreed(key, said) or "keyring"
    vault.create(kind)
    _say(f"Made {vault.path}. {_opens_with(vault, kind)}")


@app.command("set")
def set_values(name: Name, fields: Fields = ["password"], piped: Piped = False, environment: Env = None) -> None:
    """Add values to a credential, or change them. They are typed unseen, or piped in; never arguments."""
    from pydantic import SecretStr

    from deltaworks.cli.ask import typed

    _refuse_values(name, *fields)
    vault, _ = _vault(environment)
    vault.names()  # a vault that does not open is told before anybody types
    values = _piped_values(fields) if piped else {field: SecretStr(typed(f"{name} {field}: ")) for field in fields}
    empty = [field for field in fields if not values[field].get_secret_value()]
    if empty:
        raise ConfigError(f"{', '.join(empty)} would be empty.", hint="Give a value; nothing was changed.")
    vault.put(name, values)
    _say(f"{name}: {', '.join(fields)} set in {vault.path}.")


@app.command("list")
def list_names(environment: Env = None, as_json: Json = False) -> None:
    """List the credentials and the names of their values; never a value."""
    vault, _ = _vault(environment)
    found = vault.names()
    if as_json:
        print_json([{"name": name, "fields": list(fields)} for name, fields in found.items()])
    elif found:
        print_rows(("credential", "fields"), [(name, ", ".join(fields)) for name, fields in found.items()])
    else:
        _say(f"No credentials in {vault.path} yet.")


@app.command("remove")
def remove(name: Name, yes: Yes = False, environment: Env = None) -> None:
    """Remove a credential; asks first."""
    vault, _ = _vault(environment)
    fields = vault.names().get(name)
    if fields is not None and not yes and not _confirmed(f"Remove {name} ({', '.join(fields)})?"):
        raise RefusedError(f"{name} was not removed.", hint="Answer y, or add --yes.")
    vault.remove(name)
    _say(f"{name} removed from {vault.path}.")


@app.command("rotate-key")
def rotate_key(key: Key = None, piped: PipedPassphrase = False, environment: Env = None) -> None:
    """Seal the vault under a new key, of the same kind or another."""
    vault, said = _vault(environment, _new_passphrase(piped=piped, first=False))
    kind = vault.rotate(_agreed(key, said))
    _say(f"Sealed {vault.path} anew. {_opens_with(vault, kind)}")


def _vault(environment: str | None, new_passphrase: Callable[[], str] | None = None) -> tuple[FileVault, Kind | None]:
    """The file of the project here, and what the project says should open it."""
    import os

    from deltaworks.cli.ask import typed
    from deltaworks.cli.here import project_here
    from deltaworks.pipeline.vaults import FileVaultConfig, VaultEdge, file_vault

    config = project_here(environment).vault or FileVaultConfig(type="file")
    if not isinstance(config, FileVaultConfig):
        raise ConfigError(
            f"The credentials of this project are managed elsewhere: {_elsewhere(config)}.",
            hint="Change them there, or choose an environment whose vault is a file with --env.",
        )
    return file_vault(config, VaultEdge(variables=os.environ, typed=typed), new_passphrase), config.key


def _elsewhere(config: VaultConfig) -> str:
    from deltaworks.pipeline.vaults import AwsVaultConfig, HashicorpVaultConfig

    match config:
        case HashicorpVaultConfig():
            return f"in the vault at {config.address}"
        case AwsVaultConfig():
            return "in AWS Secrets Manager"
    return "as variables of the environment"


def _agreed(key: Kind | None, said: Kind | None) -> Kind | None:
    if key and said and key != said:
        raise ConfigError(
            f"The project says key: {said}, and here it is --key {key}.",
            hint="Change `key` in deltaworks.yaml first, then leave --key out.",
        )
    return key or said


def _new_passphrase(*, piped: bool, first: bool) -> Callable[[], str]:
    import os

    from deltaworks.cli.ask import read_stdin, typed_twice
    from deltaworks.pipeline.vaults import PASSPHRASE

    if piped:
        return read_stdin
    # A vault that is there opens with the variable's passphrase; the new one must be another.
    given = os.environ.get(PASSPHRASE) if first else None
    return (lambda: given) if given else partial(typed_twice, "New passphrase")


def _refuse_values(*words: str) -> None:
    from deltaworks.vault.credential import require_name

    if any("=" in word for word in words):
        raise ConfigError(
            "A value does not belong on the command line, where others can see it.",
            hint="Name the field only; type the value when asked, or pipe it in with --stdin.",
        )
    for word in words:
        require_name(word)


def _piped_values(fields: Sequence[str]) -> dict[str, SecretStr]:
    from pydantic import SecretStr

    from deltaworks.cli.ask import read_stdin

    text = read_stdin()
    return {fields[0]: SecretStr(text)} if len(fields) == 1 else _object(text, fields)


def _object(text: str, fields: Sequence[str]) -> dict[str, SecretStr]:
    import json

    from deltaworks.vault.values import values_of

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or set(found) != set(fields):
        shape = json.dumps(dict.fromkeys(fields, "…"), ensure_ascii=False)
        raise ConfigError("What was piped in is not an object of these fields.", hint=f"Pipe in {shape}.")
    return values_of(found, "what was piped in")


def _confirmed(question: str) -> bool:
    try:
        return sys.stdin.isatty() and typer.confirm(question, err=True)
    except typer.Abort:
        return False


def _opens_with(vault: FileVault, kind: Kind) -> str:
    match kind:
        case "file":
            return f"It opens with the key file {vault.keys.file}: keep a copy of that, apart from the vault."
        case "passphrase":
            return "It opens with the passphrase, which nobody can find again for you."
    return "It opens with the keyring of this user on this machine."


def _say(text: str) -> None:
    to_stdout().print(text, markup=False)
