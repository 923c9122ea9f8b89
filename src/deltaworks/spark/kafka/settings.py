"""Settings of Kafka's client in a pipeline file, under their own dotted names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails

from deltaworks.lake.model import problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import PydanticCustomError

PREFIX = "kafka."
SERVERS = "kafka.bootstrap.servers"
OTHERS = "kafka.*"  # stands for all other settings in the reference
LOGIN = ("kafka.security.protocol", "kafka.sasl.mechanism", "kafka.ssl.endpoint.identification.algorithm")

# Those that hold a secret, or the certificates that two clients would have to read in two formats.
_SECRET = re.compile(r"jaas|password|secret|token|credential|keystore|truststore|\.key$")
_BYTES = "Spark reads and writes bytes; valueFormat says what they mean"
_OURS = {
    "kafka.auto.offset.reset": "startingOffsets says where to begin",
    "kafka.enable.auto.commit": "nothing is committed to the broker: the table knows what was read",
    "kafka.interceptor.classes": "they could change what is read or written",
    "kafka.key.deserializer": _BYTES,
    "kafka.value.deserializer": _BYTES,
    "kafka.key.serializer": _BYTES,
    "kafka.value.serializer": _BYTES,
    "kafka.enable.idempotence": "it is always on",
    "kafka.acks": "it is always all",
    "kafka.transactional.id": "Spark writes without transactions",
}


def gathered(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a step, with all settings that have no key of their own under `OTHERS`."""
    own = {key: value for key, value in given.items() if _is_setting(key)}
    if not own:
        return dict(given)
    _refuse(own)
    return {key: value for key, value in given.items() if key not in own} | {OTHERS: own}


def _is_setting(key: object) -> bool:
    return isinstance(key, str) and key.startswith(PREFIX) and key != SERVERS


def _refuse(given: Mapping[str, Any]) -> None:
    """Refuse settings that are not for a file, each at its own place in it."""
    found = {key: error for key, value in given.items() if (error := _wrong(key, value))}
    if found:
        details = [InitErrorDetails(type=error, loc=(key,), input="") for key, error in found.items()]
        raise ValidationError.from_exception_data("Kafka", details)


def _wrong(key: str, value: Any) -> PydanticCustomError | None:
    name = key.lower()
    if _SECRET.search(name):
        hint = "Keep username and password, or ca, certificate and key, in a credential, and name its credentialId."
        return problem(f"{key} is not for a file", hint)
    if name in _OURS:
        return problem(f"{key} cannot be set: {_OURS[name]}", "Leave it out.")
    if name.startswith("kafka.sasl.") and name not in LOGIN:
        return problem(f"{key} cannot be set", "Keep username, password and mechanism in a credential.")
    if key != name:
        # Spark would take it for the same, we would not see it.
        return problem(f"Kafka has no setting {key}", f"Write {name}.")
    if not isinstance(value, str | int | float):
        return problem(f"{key} is neither text nor a number", "Write one value.")
    return None


def refuse_options(options: Mapping[str, Any], own: Mapping[str, str]) -> None:
    """Refuse options that have a key of their own: as options nothing would check them."""
    for name in options:
        if name.lower().startswith(PREFIX):
            raise problem(f"The option {name!r} stands in the wrong place", f"Write {name} under connectionParams.")
        if name.lower() in own:
            raise problem(f"The option {name!r} cannot be set: {own[name.lower()]}", "Leave it out.")
