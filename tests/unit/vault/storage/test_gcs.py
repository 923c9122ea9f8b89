from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from deltaworks.errors import ConfigError
from deltaworks.lake.folder import folder_at
from deltaworks.vault import Credential
from deltaworks.vault.storage import Sources, access_to
from deltaworks.vault.storage.gcs import GcsAccess

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = "gs://lake/orders"


def access(values: dict[str, str] | None = None, **sources: Any) -> GcsAccess:
    credential = Credential("lake", {name: SecretStr(value) for name, value in values.items()}) if values else None
    found = access_to(ORDERS, Sources(credential=credential, **sources))
    assert isinstance(found, GcsAccess)
    return found


def test_a_key_file_is_spelled_for_both_engines() -> None:
    found = access({"service_account": "/keys/lake.json"}, options={"fs.gs.block.size": "1"})

    assert found.to_hadoop() == {
        "fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
        "fs.gs.auth.service.account.json.keyfile": "/keys/lake.json",
        "fs.gs.block.size": "1",
    }
    assert found.to_object_store() == {"google_service_account": "/keys/lake.json"}
    assert found.place == "gs://lake"


def test_a_key_itself_is_for_delta_rs_and_refused_for_spark() -> None:
    found = access({"service_account_key": '{"private_key": "canary"}'})

    assert found.to_object_store() == {"google_service_account_key": '{"private_key": "canary"}'}
    assert found.secrets() == {'{"private_key": "canary"}'}
    assert "canary" not in repr(found)
    with pytest.raises(ConfigError, match="from a file only"):
        found.to_hadoop()


@pytest.mark.parametrize("values", [None, {"type": "role"}])
def test_without_a_key_the_machines_account_is_used(values: dict[str, str] | None) -> None:
    variables = {"GOOGLE_APPLICATION_CREDENTIALS": "/keys/lake.json"} if values else {}

    assert access(values, environment=variables).to_hadoop() == {"fs.gs.auth.type": "APPLICATION_DEFAULT"}
    assert access(values, environment=variables).to_object_store() == {}


def test_the_environment_is_used_where_nobody_says_otherwise() -> None:
    assert access(environment={"GOOGLE_APPLICATION_CREDENTIALS": "/k.json"}).key_file == "/k.json"


def test_a_key_that_is_none_is_told_by_the_object_store_itself(tmp_path: Path) -> None:
    (tmp_path / "key.json").write_text(json.dumps({"private_key": "canary"}))

    with pytest.raises(ConfigError, match="is no place we can read") as caught:
        folder_at(ORDERS, access({"service_account": str(tmp_path / "key.json")}))

    assert "canary" not in str(caught.value)
