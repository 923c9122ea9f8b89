from __future__ import annotations

from typing import Any

import pytest
from deltalake import DeltaTable
from pydantic import SecretStr
from tests.unit.vault.storage.listener import listening

from deltaworks.errors import ConfigError
from deltaworks.lake.folder import folder_at
from deltaworks.vault import Credential
from deltaworks.vault.storage import Sources, access_to
from deltaworks.vault.storage.azure import AzureAccess

ORDERS = "abfss://lake@acme.dfs.core.windows.net/orders"
HOST = "acme.dfs.core.windows.net"
KEY = "Y2FuYXJ5"  # base64, as Azure's keys are


def access(uri: str = ORDERS, values: dict[str, str] | None = None, **sources: Any) -> AzureAccess:
    credential = Credential("lake", {name: SecretStr(value) for name, value in values.items()}) if values else None
    found = access_to(uri, Sources(credential=credential, **sources))
    assert isinstance(found, AzureAccess)
    return found


def test_an_account_key_is_spelled_for_both_engines() -> None:
    found = access(values={"account_key": KEY})

    assert found.to_hadoop() == {
        f"fs.azure.account.auth.type.{HOST}": "SharedKey",
        f"fs.azure.account.key.{HOST}": KEY,
    }
    assert found.to_object_store() == {"azure_storage_account_name": "acme", "azure_storage_account_key": KEY}
    assert found.secrets() == {KEY}
    assert KEY not in repr(found)


def test_a_shared_access_signature_is_spelled_for_both_engines() -> None:
    found = access(values={"sas_token": "sv=1&sig=canary"})

    assert found.to_hadoop()[f"fs.azure.sas.fixed.token.{HOST}"] == "sv=1&sig=canary"
    assert found.to_object_store()["azure_storage_sas_token"] == "sv=1&sig=canary"


def test_an_application_is_spelled_for_both_engines() -> None:
    found = access(values={"tenant_id": "t", "client_id": "c", "client_secret": "canary"})

    assert found.to_hadoop() == {
        f"fs.azure.account.auth.type.{HOST}": "OAuth",
        f"fs.azure.account.oauth.provider.type.{HOST}": "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider",
        f"fs.azure.account.oauth2.client.endpoint.{HOST}": "https://login.microsoftonline.com/t/oauth2/token",
        f"fs.azure.account.oauth2.client.id.{HOST}": "c",
        f"fs.azure.account.oauth2.client.secret.{HOST}": "canary",
    }
    assert found.to_object_store() == {
        "azure_storage_account_name": "acme",
        "azure_storage_tenant_id": "t",
        "azure_storage_client_id": "c",
        "azure_storage_client_secret": "canary",
    }


@pytest.mark.parametrize("values", [None, {"type": "role"}])
def test_without_a_secret_the_machines_role_is_used(values: dict[str, str] | None) -> None:
    found = access(values=values, environment={"AZURE_STORAGE_ACCOUNT_KEY": KEY} if values else {})

    assert found.to_hadoop()[f"fs.azure.account.oauth.provider.type.{HOST}"].endswith("MsiTokenProvider")
    assert found.to_object_store() == {"azure_storage_account_name": "acme"}


def test_the_environment_is_used_where_nobody_says_otherwise() -> None:
    variables = {"AZURE_STORAGE_ACCOUNT_NAME": "acme", "AZURE_STORAGE_ACCOUNT_KEY": KEY}

    assert access("az://lake/orders", environment=variables).to_object_store() == {
        "azure_storage_account_name": "acme",
        "azure_storage_account_key": KEY,
    }


def test_an_application_without_its_tenant_is_refused() -> None:
    with pytest.raises(ConfigError, match="no tenant_id"):
        access(values={"client_id": "c", "client_secret": "canary"})


def test_a_container_without_an_account_is_refused() -> None:
    with pytest.raises(ConfigError, match="does not say which storage account"):
        access("az://lake/orders")


def test_options_of_hadoop_are_kept() -> None:
    assert access(options={"fs.azure.io.retry.max.retries": "3"}).to_hadoop()["fs.azure.io.retry.max.retries"] == "3"


@pytest.mark.parametrize(
    ("values", "sign"), [({"account_key": KEY}, "SharedKey acme:"), ({"sas_token": "sv=1&sig=canary"}, "sig=canary")]
)
def test_the_options_reach_the_object_store_of_both_readers(values: dict[str, str], sign: str) -> None:
    with listening() as server:
        found = access(values=values, options={"AZURE_STORAGE_ENDPOINT": server.address}, given={"max_retries": "0"})
        with pytest.raises(Exception):  # noqa: B017, PT011 - nothing is there
            DeltaTable(ORDERS, storage_options=found.to_object_store())
        folder_at(ORDERS, found).modified("x")

    assert len(server.requests) >= 2
    assert all(sign in request for request in server.requests)
