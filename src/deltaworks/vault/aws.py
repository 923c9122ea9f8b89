"""Credentials in AWS Secrets Manager."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from deltaworks.errors import SetupError
from deltaworks.vault.credential import Credential, CredentialNotFoundError
from deltaworks.vault.extras import required
from deltaworks.vault.values import values_of

PATIENCE = 10  # seconds
ATTEMPTS = 2
ONLY_VALUE = "password"  # what a secret that is plain text holds


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretsManagerVault:
    """A secret for each credential: a JSON object of values, or plain text that is its password."""

    region: str | None = None
    prefix: str = ""
    endpoint: str | None = None

    def get(self, credential_id: str) -> Credential:
        """Return what the secret of that name holds."""
        secret = f"{self.prefix}{credential_id}"
        text = self._answer(credential_id, secret).get("SecretString")
        if text is None:
            raise SetupError(f"The secret {secret} holds bytes.", hint="Keep it as text: a JSON object of values.")
        return Credential(credential_id, values_of(_parsed(text), f"the secret {secret}"))

    def _answer(self, credential_id: str, secret: str) -> Any:
        boto3, botocore = required("boto3", "aws"), required("botocore.exceptions", "aws")
        try:
            return self._client(boto3).get_secret_value(SecretId=secret)
        except botocore.ClientError as said:
            failure = self._refused(said.response.get("Error", {}).get("Code", "an error"), credential_id, secret)
        except (botocore.BotoCoreError, ValueError) as said:
            failure = SetupError(
                f"AWS Secrets Manager gave no answer: {type(said).__name__}.",
                hint="Check the region, the network, and the credentials or role that AWS's own tools use.",
            )
        # Out of the handlers: nothing that was sent or answered hangs on to our error.
        raise failure

    def _client(self, boto3: Any) -> Any:
        config = required("botocore.config", "aws").Config(
            connect_timeout=PATIENCE, read_timeout=PATIENCE, retries={"total_max_attempts": ATTEMPTS}
        )
        session = boto3.session.Session(region_name=self.region)
        return session.client("secretsmanager", endpoint_url=self.endpoint, config=config)

    def _refused(self, code: str, credential_id: str, secret: str) -> SetupError:
        if code == "ResourceNotFoundException":
            hint = "Add it there with AWS's own tools; check the region and the `prefix`."
            return CredentialNotFoundError(credential_id, looked_in=("AWS Secrets Manager",), hint=hint)
        hint = f"Does the role or user have secretsmanager:GetSecretValue on {secret}, and is its session still valid?"
        return SetupError(f"AWS Secrets Manager refused to give {secret}: {code}.", hint=hint)


def _parsed(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    return found if isinstance(found, dict) else {ONLY_VALUE: text}
