from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr
from tests.house.tree import ROOT
from tests.unit.pipeline.files import saved

from deltaworks.errors import ConfigError, SetupError
from deltaworks.pipeline.project import find_project
from deltaworks.pipeline.vaults import AnyVault, FileVaultConfig, VaultEdge, file_vault, vault_for
from deltaworks.vault import CredentialNotFoundError, CredentialVault

if TYPE_CHECKING:
    from pathlib import Path

NOWHERE = "http://127.0.0.1:1"


def config(folder: Path, text: str, environment: str | None = None) -> AnyVault | None:
    saved(folder, text, "deltaworks.yaml")
    return find_project(folder, environment, {}).vault


def edge(folder: Path, typed: Any = None, **variables: str) -> VaultEdge:
    return VaultEdge(variables={"XDG_CONFIG_HOME": str(folder / "config"), **variables}, typed=typed)


def made(found: FileVaultConfig, at: VaultEdge, kind: Any = "file") -> None:
    vault = file_vault(found, at)
    vault.create(kind)
    vault.put("pg", {"password": SecretStr("canary")})


def secret(vault: CredentialVault, name: str = "pg") -> set[str]:
    return set(vault.get(name).secrets())


# What the project file says


def test_a_project_that_names_no_vault_has_none(tmp_path: Path) -> None:
    assert config(tmp_path, "runs: records\n") is None


def test_an_environment_may_have_another_vault(tmp_path: Path) -> None:
    text = "vault: {type: environment}\nenvironments:\n  prod:\n    vault: {type: aws, region: eu-west-1}\n  test: {}\n"

    assert [getattr(config(tmp_path, text, name), "type", None) for name in (None, "test", "prod")] == [
        "environment",
        "environment",
        "aws",
    ]


def test_paths_start_at_the_project(tmp_path: Path) -> None:
    found = config(tmp_path, "vault: {type: file, path: a/vault.sealed, keyFile: ../vault.key}\n")

    assert isinstance(found, FileVaultConfig)
    assert (found.path, found.key_file) == (f"{tmp_path}/a/vault.sealed", f"{tmp_path}/../vault.key")


@pytest.mark.parametrize(
    ("vault", "problem"),
    [
        ("{type: fil}", "vault: type 'fil' is not known."),
        ("{path: x}", "vault.type is missing."),
        ("{type: file, key: keyrng}", "vault.key: 'keyrng' is not known."),
        ("{type: file, path: s3://x/y}", "vault.path: s3a://x/y is not on this machine."),
        ("{type: file, key: keyring, keyFile: x}", "a keyFile does nothing with key: keyring."),
        ("{type: hashicorp}", "vault.address is missing."),
        ("{type: hashicorp, address: vault.example}", "vault.address: this is not an address."),
        ("{type: hashicorp, address: 'https://a:canary@v'}", "an address holds no user or password."),
        ("{type: hashicorp, address: 'https://v', token: canary}", "Unknown key 'token' in vault."),
        ("{type: hashicorp, address: 'https://v', kvVersion: 3}", "vault.kvVersion"),
        ("{type: aws, endpoint: ftp://x}", "vault.endpoint: this is not an address."),
        ("{type: aws, secretAccessKey: canary}", "Unknown key 'secretAccessKey' in vault."),
        ("{type: environment, path: x}", "Unknown key 'path' in vault."),
    ],
)
def test_what_cannot_be_is_refused_with_its_line_and_no_secret(tmp_path: Path, vault: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(tmp_path, f"runs: r\nvault: {vault}\n")

    assert str(caught.value).startswith("deltaworks.yaml:2: ")
    assert problem in str(caught.value)
    assert "canary" not in str(caught.value) + caught.value.hint


def test_the_example_in_the_documents_has_every_kind_of_vault() -> None:
    names = (None, "laptop", "prod", "cloud")
    found = [find_project(ROOT / "docs/examples", name, {}).vault for name in names]

    assert [getattr(each, "type", None) for each in found] == ["environment", "file", "hashicorp", "aws"]
    assert all(vault_for(each, VaultEdge(variables={"DELTAWORKS_PG__HOST": "db"})).get("pg") for each in found)


# Where credentials are looked for


@pytest.mark.parametrize(
    "text",
    [
        "runs: r",
        "vault: {type: environment}",
        "vault: {type: file, path: nothing}",
        f"vault: {{type: hashicorp, address: '{NOWHERE}'}}",
        f"vault: {{type: aws, endpoint: '{NOWHERE}'}}",
    ],
)
def test_what_the_environment_has_wins_over_any_vault_and_opens_none(tmp_path: Path, text: str) -> None:
    vault = vault_for(config(tmp_path, text), edge(tmp_path, DELTAWORKS_PG__PASSWORD="canary"))

    assert secret(vault) == {"canary"}


def test_without_a_word_credentials_come_from_the_users_own_vault(tmp_path: Path) -> None:
    made(FileVaultConfig(type="file"), edge(tmp_path))

    assert (tmp_path / "config/deltaworks/vault.sealed").is_file()
    assert secret(vault_for(None, edge(tmp_path))) == {"canary"}


def test_the_users_own_vault_is_in_the_home_folder_where_nothing_else_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert (
        file_vault(FileVaultConfig(type="file"), VaultEdge(variables={})).path
        == tmp_path / ".config/deltaworks/vault.sealed"
    )


def test_without_a_word_and_without_a_vault_the_hint_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(CredentialNotFoundError) as caught:
        vault_for(None, edge(tmp_path)).get("pg")

    assert "in the environment or in" in str(caught.value)
    assert [
        word for word in ("DELTAWORKS_PG__PASSWORD", "vault init", "vault set pg") if word not in caught.value.hint
    ] == []


def test_a_project_that_says_environment_looks_nowhere_else(tmp_path: Path) -> None:
    made(FileVaultConfig(type="file"), edge(tmp_path))

    with pytest.raises(CredentialNotFoundError, match=r"'pg' in the environment\.$"):
        vault_for(config(tmp_path, "vault: {type: environment}"), edge(tmp_path)).get("pg")


def test_a_project_may_keep_a_vault_and_its_key_where_it_likes(tmp_path: Path) -> None:
    found = config(tmp_path, "vault: {type: file, path: a/x.sealed, key: file, keyFile: b/y.key}\n")
    assert isinstance(found, FileVaultConfig)
    made(found, edge(tmp_path))

    assert (tmp_path / "a/x.sealed").is_file()
    assert (tmp_path / "b/y.key").is_file()
    assert secret(vault_for(found, edge(tmp_path))) == {"canary"}


# What opens them


def test_a_passphrase_comes_from_the_environment_or_from_whoever_types(tmp_path: Path) -> None:
    questions: list[str] = []

    def typed(question: str) -> str:
        questions.append(question)
        return "correct horse"

    given = edge(tmp_path, DELTAWORKS_VAULT_PASSPHRASE="correct horse")
    made(FileVaultConfig(type="file"), given, "passphrase")

    assert secret(vault_for(None, given)) == {"canary"}
    assert secret(vault_for(None, edge(tmp_path, typed))) == {"canary"}
    assert questions == [f"Passphrase of {tmp_path}/config/deltaworks/vault.sealed: "]
    with pytest.raises(SetupError, match="opens with a passphrase") as caught:
        vault_for(None, edge(tmp_path)).get("pg")
    assert caught.value.hint == "Set DELTAWORKS_VAULT_PASSPHRASE in the environment."


def test_the_token_comes_from_the_environment(tmp_path: Path) -> None:
    found = config(tmp_path, f"vault: {{type: hashicorp, address: '{NOWHERE}', kvVersion: '1'}}")

    with pytest.raises(SetupError, match="There is no token") as caught:
        vault_for(found, edge(tmp_path)).get("pg")
    assert "VAULT_TOKEN" in caught.value.hint
    with pytest.raises(SetupError, match="gave no answer"):
        vault_for(found, edge(tmp_path, VAULT_TOKEN="canary\n")).get("pg")


def test_what_is_printed_of_an_edge_or_a_vault_holds_no_secret(tmp_path: Path) -> None:
    found = config(tmp_path, f"vault: {{type: hashicorp, address: '{NOWHERE}'}}")
    at = edge(tmp_path, VAULT_TOKEN="canary", DELTAWORKS_VAULT_PASSPHRASE="canary")

    assert "canary" not in repr(at) + repr(vault_for(found, at)) + repr(vault_for(None, at))
    assert "canary" not in repr(file_vault(FileVaultConfig(type="file"), at).keys)
