from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, get_args

import pytest
from tests.house.tree import ROOT
from tests.unit.cli.pseudoterminal import at_a_terminal, in_a_shell
from tests.unit.pipeline.files import TEXT, saved
from tests.unit.tables import land

from deltaworks.cli import vault as command
from deltaworks.pipeline.vaults import FileVaultConfig, VaultEdge, file_vault
from deltaworks.vault.sealing import KeyKind

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.outcome import Cli, Outcome
    from tests.unit.vault.rings import MemoryRing


pytestmark = pytest.mark.usefixtures("ring")


@pytest.fixture
def made(cli: Cli) -> Cli:
    """The command line, with a vault that a key file opens."""
    assert cli("vault", "init", "--key", "file").code == 0
    return cli


@pytest.fixture
def piped(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A command that something is piped into."""

    def call(text: str | bytes, *words: object) -> Outcome:
        raw = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        return cli(*words)

    return call


def values(folder: Path, name: str, config: FileVaultConfig | None = None, **variables: str) -> dict[str, str]:
    edge = VaultEdge(variables={"XDG_CONFIG_HOME": str(folder / "config"), **variables})
    found = file_vault(config or FileVaultConfig(type="file"), edge).get(name)
    return {field: value.get_secret_value() for field, value in found.values.items()}


def place(folder: Path) -> Path:
    return folder / "config/deltaworks/vault.sealed"


# init


def test_init_makes_a_vault_that_the_keyring_opens(cli: Cli, tmp_path: Path, ring: MemoryRing) -> None:
    outcome = cli("vault", "init")

    assert outcome.code == 0
    assert outcome.out.startswith(f"Made {place(tmp_path)}. It opens with the keyring")
    assert len(ring.kept) == 1
    assert cli("vault", "list").out == f"No credentials in {place(tmp_path)} yet.\n"


def test_init_says_where_the_key_file_is(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("vault", "init", "--key", "file")

    assert f"the key file {place(tmp_path)}.key: keep a copy" in outcome.out


def test_init_takes_a_passphrase_from_the_environment(
    cli: Cli, tmp_path: Path, piped: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELTAWORKS_VAULT_PASSPHRASE", "canary horse")

    assert cli("vault", "init", "--key", "passphrase").code == 0
    assert piped("canary", "vault", "set", "pg", "--stdin").code == 0
    assert values(tmp_path, "pg", DELTAWORKS_VAULT_PASSPHRASE="canary horse") == {"password": "canary"}


def test_init_does_not_overwrite_a_vault(made: Cli, tmp_path: Path) -> None:
    before = place(tmp_path).read_bytes()

    outcome = made("vault", "init", "--key", "file")

    assert (outcome.code, len(outcome.error)) == (4, 2)
    assert place(tmp_path).read_bytes() == before


def test_init_refuses_a_key_that_is_not_the_projects(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, "vault: {type: file, path: v/x, key: passphrase}\n", "deltaworks.yaml")

    outcome = cli("vault", "init", "--key", "file")

    assert outcome.code == 2
    assert outcome.error[0] == "Error: The project says key: passphrase, and here it is --key file."
    assert not (tmp_path / "v").exists()


def test_the_kinds_of_key_are_those_that_there_are() -> None:
    assert get_args(command.Kind) == get_args(KeyKind)


# set


def test_a_value_is_piped_in_whole_but_for_its_last_line_end(made: Cli, piped: Any, tmp_path: Path) -> None:
    for text, expected in [("canary\n", "canary"), ("a\nb\n\n", "a\nb\n"), (' "x"', ' "x"'), ("é\r\n", "é")]:
        assert piped(text, "vault", "set", "pg", "--stdin").code == 0
        assert values(tmp_path, "pg") == {"password": expected}


def test_several_values_are_piped_in_as_json(made: Cli, piped: Any, tmp_path: Path) -> None:
    outcome = piped(json.dumps({"user": "ana", "port": 5432}), "vault", "set", "pg", "user", "port", "--stdin")

    assert outcome.out == f"pg: user, port set in {place(tmp_path)}.\n"
    assert values(tmp_path, "pg") == {"user": "ana", "port": "5432"}


def test_set_leaves_other_values_as_they_are(made: Cli, piped: Any, tmp_path: Path) -> None:
    piped("canary", "vault", "set", "pg", "--stdin")
    piped("db", "vault", "set", "pg", "host", "--stdin")

    assert values(tmp_path, "pg") == {"password": "canary", "host": "db"}


@pytest.mark.parametrize(
    "text", ["canary", "", "[]", "{}", '{"user": "canary"}', '{"user": "canary", "port": 1, "x": 1}', "[" * 100_000]
)
def test_what_is_no_object_of_the_fields_is_refused_and_not_repeated(made: Cli, piped: Any, text: str) -> None:
    outcome = piped(text, "vault", "set", "pg", "user", "port", "--stdin")

    assert outcome.code == 2
    assert outcome.error[1] == 'Hint: Pipe in {"user": "…", "port": "…"}.'
    assert "canary" not in outcome.out + outcome.err


def test_a_value_that_is_no_text_is_refused_and_not_repeated(made: Cli, piped: Any) -> None:
    outcome = piped('{"user": ["canary"], "port": 1}', "vault", "set", "pg", "user", "port", "--stdin")

    assert (outcome.code, len(outcome.error)) == (3, 2)
    assert "canary" not in outcome.err


@pytest.mark.parametrize(("text", "problem"), [("", "password would be empty"), (b"canary\xff", "not UTF-8")])
def test_what_can_be_no_value_is_refused(made: Cli, piped: Any, text: str | bytes, problem: str) -> None:
    outcome = piped(text, "vault", "set", "pg", "--stdin")

    assert outcome.code == 2
    assert problem in outcome.error[0]
    assert "canary" not in outcome.err
    assert "No credentials" in made("vault", "list").out


@pytest.mark.parametrize(
    "words", [["pg", "password=canary"], ["pg=canary"], ["pg", "user", "password=canary"], ["pg", "can ary"], ["é"]]
)
def test_a_value_on_the_command_line_is_refused_and_not_repeated(made: Cli, words: list[str]) -> None:
    outcome = made("vault", "set", *words)

    assert (outcome.code, len(outcome.error)) == (2, 2)
    assert "canary" not in outcome.out + outcome.err
    assert "can ary" not in outcome.out + outcome.err


def test_without_a_terminal_or_a_pipe_nothing_is_asked(made: Cli, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deltaworks.cli.main", "vault", "set", "pg"],
        cwd=tmp_path,
        input="canary\n",
        capture_output=True,
        text=True,
        start_new_session=True,  # and so without the terminal of whoever runs this test
        check=False,
    )

    assert done.returncode == 3
    assert done.stderr.splitlines()[0] == "Error: Nobody can answer here: pg password."
    assert "--stdin" in done.stderr.splitlines()[1]
    assert "canary" not in done.stderr


# At a terminal


def test_what_is_typed_is_never_to_be_seen(made: Cli, tmp_path: Path) -> None:
    answers = {"pg user: ": "canary-user", "pg password: ": "canary-word"}

    code, seen = at_a_terminal("vault", "set", "pg", "user", "password", cwd=tmp_path, answers=answers)

    assert code == 0
    assert f"pg: user, password set in {place(tmp_path)}." in seen
    assert "canary" not in seen
    assert values(tmp_path, "pg") == {"user": "canary-user", "password": "canary-word"}


def test_a_new_passphrase_is_typed_twice_and_never_to_be_seen(cli: Cli, tmp_path: Path) -> None:
    twice = {"New passphrase: ": "canary horse", "New passphrase, once more: ": "canary horse"}

    code, seen = at_a_terminal("vault", "init", "--key", "passphrase", cwd=tmp_path, answers=twice)

    assert (code, "canary" in seen) == (0, False)
    passphrase = f"Passphrase of {place(tmp_path)}: "
    answers = {passphrase: "canary horse", "pg password: ": "canary"}
    code, seen = at_a_terminal("vault", "set", "pg", cwd=tmp_path, answers=answers)
    assert (code, "canary" in seen, seen.count(passphrase)) == (0, False, 1)
    assert values(tmp_path, "pg", DELTAWORKS_VAULT_PASSPHRASE="canary horse") == {"password": "canary"}


def test_two_passphrases_that_differ_make_no_vault(cli: Cli, tmp_path: Path) -> None:
    answers = {"New passphrase: ": "canary horse", "New passphrase, once more: ": "canary house"}

    code, seen = at_a_terminal("vault", "init", "--key", "passphrase", cwd=tmp_path, answers=answers)

    assert code == 2
    assert "Error: The two are not the same." in seen
    assert not place(tmp_path).exists()


def test_a_run_asks_for_the_passphrase_at_the_terminal(
    cli: Cli, tmp_path: Path, piped: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELTAWORKS_VAULT_PASSPHRASE", "canary horse")
    cli("vault", "init", "--key", "passphrase")
    piped("canary", "vault", "set", "pg", "--stdin")
    monkeypatch.delenv("DELTAWORKS_VAULT_PASSPHRASE")
    saved(tmp_path, TEXT.replace("sourceType: File", "sourceType: File\n  credentialId: pg"))
    land(tmp_path / "out", "monday")
    answers = {f"Passphrase of {place(tmp_path)}: ": "canary horse"}

    code, seen = at_a_terminal("run", "orders.yaml", "--key", "monday", cwd=tmp_path, answers=answers)

    assert code == 0
    assert "already landed as version 0" in seen
    assert "canary" not in seen


def test_ctrl_c_at_a_question_stops(made: Cli, tmp_path: Path) -> None:
    code, seen = at_a_terminal("vault", "set", "pg", cwd=tmp_path, answers={"pg password: ": "\x03"})

    assert code == 130
    assert "Error: Stopped." in seen


# list


def test_list_shows_names_and_no_values(made: Cli, piped: Any) -> None:
    piped('{"user": "canary-user", "password": "canary"}', "vault", "set", "pg", "user", "password", "--stdin")
    piped("canary", "vault", "set", "a-lake", "secret_access_key", "--stdin")

    shown, machine = made("vault", "list"), made("vault", "list", "--json")

    assert [line.split() for line in shown.out.splitlines()] == [
        ["credential", "fields"],
        ["a-lake", "secret_access_key"],
        ["pg", "password,", "user"],
    ]
    assert machine.json == [
        {"name": "a-lake", "fields": ["secret_access_key"]},
        {"name": "pg", "fields": ["password", "user"]},
    ]
    assert "canary" not in shown.out + shown.err + machine.out + machine.err


def test_without_a_vault_every_command_says_how_to_make_one(cli: Cli, piped: Any, tmp_path: Path) -> None:
    for words in (["list"], ["remove", "pg"], ["rotate-key"], ["set", "pg", "--stdin"]):
        outcome = piped("canary", "vault", *words)
        assert outcome.code == 3
        assert outcome.error == [
            f"Error: There is no vault at {place(tmp_path)}.",
            "Hint: Make one with `deltaworks vault init`.",
        ]


def test_a_vault_that_others_can_read_is_refused_in_two_lines(made: Cli, tmp_path: Path) -> None:
    place(tmp_path).chmod(0o644)

    outcome = made("vault", "list")

    assert (outcome.code, len(outcome.error)) == (3, 2)
    assert f"chmod 600 {place(tmp_path)}" in outcome.error[1]


def test_a_wrong_passphrase_is_two_lines(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTAWORKS_VAULT_PASSPHRASE", "canary horse")
    cli("vault", "init", "--key", "passphrase")
    monkeypatch.setenv("DELTAWORKS_VAULT_PASSPHRASE", "canary house")

    outcome = cli("vault", "list")

    assert (outcome.code, len(outcome.error)) == (3, 2)
    assert "does not open with this passphrase" in outcome.error[0]
    assert "canary" not in outcome.err


# remove

REMOVE = "Remove pg (password)? [y/N]: "


def test_remove_asks_first(made: Cli, piped: Any, tmp_path: Path) -> None:
    piped("canary", "vault", "set", "pg", "--stdin")

    for answer in ("n", "", "\x04"):
        code, seen = at_a_terminal("vault", "remove", "pg", cwd=tmp_path, answers={REMOVE: answer})
        assert code == 4
        assert seen.splitlines()[-2:] == ["Error: pg was not removed.", "Hint: Answer y, or add --yes."]
        assert values(tmp_path, "pg")
    assert at_a_terminal("vault", "remove", "pg", cwd=tmp_path, answers={REMOVE: "y"})[0] == 0
    assert made("vault", "list", "--json").json == []


def test_remove_removes_nothing_where_nobody_can_be_asked(made: Cli, piped: Any, tmp_path: Path) -> None:
    piped("canary", "vault", "set", "pg", "--stdin")

    outcome = piped("y\n", "vault", "remove", "pg")

    assert (outcome.code, outcome.error) == (4, ["Error: pg was not removed.", "Hint: Answer y, or add --yes."])
    assert values(tmp_path, "pg")


def test_remove_does_not_ask_when_told_so(made: Cli, piped: Any) -> None:
    piped("canary", "vault", "set", "pg", "--stdin")

    outcome = made("vault", "remove", "pg", "--yes")

    assert (outcome.code, outcome.err) == (0, "")
    assert made("vault", "list", "--json").json == []


def test_what_is_not_there_cannot_be_removed(made: Cli, piped: Any) -> None:
    piped("canary", "vault", "set", "pg", "--stdin")

    outcome = made("vault", "remove", "pgg")

    assert outcome.code == 3
    assert outcome.error[1] == "Hint: Did you mean 'pg'?"


# rotate-key


def test_rotate_key_seals_the_vault_anew(made: Cli, piped: Any, tmp_path: Path, ring: MemoryRing) -> None:
    piped("canary", "vault", "set", "pg", "--stdin")
    key = place(tmp_path).with_name("vault.sealed.key")
    before = key.read_bytes()

    assert made("vault", "rotate-key").code == 0
    assert key.read_bytes() != before
    assert values(tmp_path, "pg") == {"password": "canary"}
    outcome = made("vault", "rotate-key", "--key", "keyring")
    assert outcome.out.startswith(f"Sealed {place(tmp_path)} anew. It opens with the keyring")
    assert (key.exists(), len(ring.kept)) == (False, 1)
    assert values(tmp_path, "pg") == {"password": "canary"}


def test_a_new_passphrase_may_be_piped_in_while_the_old_one_is_in_the_environment(
    cli: Cli, piped: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELTAWORKS_VAULT_PASSPHRASE", "old canary")
    cli("vault", "init", "--key", "passphrase")
    piped("canary", "vault", "set", "pg", "--stdin")

    outcome = piped("new canary\n", "vault", "rotate-key", "--stdin")

    assert outcome.code == 0
    assert "canary" not in outcome.out + outcome.err
    assert values(tmp_path, "pg", DELTAWORKS_VAULT_PASSPHRASE="new canary") == {"password": "canary"}


def test_rotate_key_follows_the_project(made: Cli, piped: Any, tmp_path: Path, ring: MemoryRing) -> None:
    piped("canary", "vault", "set", "pg", "--stdin")
    saved(tmp_path, f"vault: {{type: file, path: {place(tmp_path)}, key: keyring}}\n", "deltaworks.yaml")

    assert "deltaworks vault rotate-key" in made("vault", "list").error[1]
    assert made("vault", "rotate-key").code == 0
    assert made("vault", "list", "--json").json == [{"name": "pg", "fields": ["password"]}]
    assert len(ring.kept) == 1


# Projects

PROJECT = """\
vault: {type: file, path: own/vault.sealed, key: file}
environments:
  prod: {vault: {type: hashicorp, address: "https://vault.example:8200"}}
  cloud: {vault: {type: aws}}
  plain: {vault: {type: environment}}
  other: {vault: {type: file, path: other/vault.sealed, key: file, keyFile: keys/other.key}}
"""


def test_the_vault_of_the_project_and_its_environment_is_used(cli: Cli, piped: Any, tmp_path: Path) -> None:
    saved(tmp_path, PROJECT, "deltaworks.yaml")

    for words in ((), ("--env", "other")):
        assert cli("vault", "init", *words).code == 0
        assert piped(f"canary {words}", "vault", "set", "pg", "--stdin", *words).code == 0
    own = FileVaultConfig.model_validate({"type": "file", "path": str(tmp_path / "own/vault.sealed")})
    assert values(tmp_path, "pg", own) == {"password": "canary ()"}
    assert sorted(path.name for path in (tmp_path / "keys").iterdir() if path.suffix == ".key") == ["other.key"]
    assert cli("vault", "list", "--env", "other", "--json").json == [{"name": "pg", "fields": ["password"]}]
    assert cli("vault", "remove", "pg", "--yes", "--env", "other").code == 0
    assert cli("vault", "rotate-key", "--env", "other").code == 0
    assert values(tmp_path, "pg", own) == {"password": "canary ()"}


@pytest.mark.parametrize(
    ("environment", "where"),
    [
        ("prod", "in the vault at https://vault.example:8200"),
        ("cloud", "in AWS Secrets Manager"),
        ("plain", "as variables of the environment"),
    ],
)
def test_a_vault_that_is_no_file_is_managed_elsewhere(cli: Cli, tmp_path: Path, environment: str, where: str) -> None:
    saved(tmp_path, PROJECT, "deltaworks.yaml")

    for words in (["init"], ["list"], ["set", "pg"], ["remove", "pg"], ["rotate-key"]):
        outcome = cli("vault", *words, "--env", environment)
        assert outcome.code == 2
        assert outcome.error[0] == f"Error: The credentials of this project are managed elsewhere: {where}."


def test_the_commands_of_the_documents_do_what_they_say(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.unit.vault.rings.FileRing")
    monkeypatch.setenv("RING", str(tmp_path / "ring.json"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    saved(tmp_path, '{"key": "canary", "secret": "canary"}', "keys.json")
    answers = {"pg user: ": "canary", "pg password: ": "canary"}
    twice = {"New passphrase: ": "canary horse", "New passphrase, once more: ": "canary horse"}
    (block,) = re.findall(r"```sh\n(.*?)```", (ROOT / "docs/credentials.md").read_text(), re.DOTALL)

    seen = []
    for line, typed in zip(block.splitlines(), [{}, answers, {}, {}, twice, {}], strict=True):
        if "remove" in line:
            monkeypatch.setenv("DELTAWORKS_VAULT_PASSPHRASE", "canary horse")
        code, shown = in_a_shell(line, cwd=tmp_path, answers=typed)
        assert (code, "canary" in shown) == (0, False), shown
        seen.append(shown)

    assert [line.split() for line in seen[3].splitlines()[1:]] == [
        ["lake", "key,", "secret"],
        ["pg", "password,", "user"],
    ]
    assert cli("vault", "list", "--json").json == [{"name": "lake", "fields": ["key", "secret"]}]


def test_no_command_leaves_a_secret_where_others_can_see_it(made: Cli, piped: Any, tmp_path: Path) -> None:
    piped("canary", "vault", "set", "pg", "--stdin")
    made("vault", "rotate-key")

    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"canary" not in path.read_bytes()
    assert {path.stat().st_mode & 0o077 for path in place(tmp_path).parent.iterdir()} == {0}
    assert place(tmp_path).parent.stat().st_mode & 0o077 == 0
