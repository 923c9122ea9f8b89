from __future__ import annotations

import pytest

from deltaworks.errors import ConfigError
from deltaworks.vault.storage import Sources, access_to, refuse_secrets


@pytest.mark.parametrize(
    "name",
    [
        "fs.s3a.access.key",
        "fs.s3a.secret.key",
        "fs.s3a.bucket.lake.session.token",
        "AWS_ACCESS_KEY_ID",
        "aws_secret_access_key",
        "AWS_SESSION_TOKEN",
        "AWS_TOKEN",
        "fs.azure.account.key",
        "fs.azure.account.key.lake.dfs.core.windows.net",
        "fs.azure.account.oauth2.client.secret.lake.dfs.core.windows.net",
        "fs.azure.sas.fixed.token",
        "AZURE_STORAGE_ACCOUNT_KEY",
        "azure_storage_master_key",
        "AZURE_STORAGE_SAS_KEY",
        "AZURE_STORAGE_SAS_TOKEN",
        "AZURE_CLIENT_SECRET",
        "fs.gs.auth.service.account.private.key",
        "GOOGLE_SERVICE_ACCOUNT_KEY",
        "GOOGLE_SERVICE_ACCOUNT_JSON",
    ],
)
def test_a_secret_in_the_file_is_refused_without_repeating_it(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        access_to("s3a://lake/orders", Sources(options={name: "canary"}))

    assert str(caught.value) == f"`options` holds a secret, {name}."
    assert "vault set" in caught.value.hint


def test_what_only_sounds_like_a_secret_is_let_through() -> None:
    refuse_secrets(
        [
            "header",
            "token",  # of the rows, not of the storage
            "fs.s3a.aws.credentials.provider",
            "fs.s3a.security.credential.provider.path",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "fs.azure.sas.token.provider.type",
            "fs.azure.account.oauth2.client.id",
            "fs.gs.auth.service.account.json.keyfile",
            "GOOGLE_SERVICE_ACCOUNT_PATH",
        ]
    )
