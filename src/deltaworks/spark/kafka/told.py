"""What Kafka's Java client says inside Spark, in our words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deltaworks.errors import AwayError, DeltaworksError, RunError, SetupError

if TYPE_CHECKING:
    from collections.abc import Sequence

_AGAIN = "Nothing was written. See that the broker runs, and run again."
_TOLD: tuple[tuple[str, type[DeltaworksError], str, str], ...] = (
    (
        "Some data may have been lost|is out of range for partition|does not host this topic-partition",
        RunError,
        "records that were there when the run began are gone",
        "Nothing was written. Retention, or somebody, was faster: run again, it begins with what is there.",
    ),
    (
        "when serialized which is larger than|larger than the max message size",
        RunError,
        "a record is too large for Kafka",
        "Leave large columns out, or raise kafka.max.request.size here and max.message.bytes of the topic.",
    ),
    (
        "Cannot fetch record for offset|Timed out waiting|not present in metadata|Failed to update metadata"
        r"|^Expiring \d+ record|Timeout of \d+ ?ms expired|Timeout expired",
        AwayError,
        "Kafka did not answer in time",
        _AGAIN,
    ),
    (
        "(?i)authentication failed|SASL authentication|SSL handshake failed",
        SetupError,
        "Kafka does not let Spark in",
        "Check username, password, mechanism and certificates in the credential.",
    ),
    (
        "(?i)not authorized to access",
        SetupError,
        "the user lacks a right in Kafka",
        "Ask whoever runs the cluster for the right to read the topic, or to write it.",
    ),
)


def told(messages: Sequence[str], where: str) -> DeltaworksError | None:
    """Our error for the messages of one of Spark's, the cause last; none where Kafka is not to blame."""
    for words, kind, what, hint in _TOLD:
        said = next((message for message in reversed(messages) if re.search(words, message)), None)
        if said is not None:
            return kind(f"{where}: {what}: {_line(said)}", hint=hint)
    return None


def _line(message: str) -> str:
    """The words that tell most: of a long message about lost records, which these are."""
    reason = re.search(r"Reason:\s*(.*)", message, re.DOTALL)
    line = " ".join((reason[1] if reason else message).split())
    return line if len(line) <= 300 else f"{line[:299]}…"
