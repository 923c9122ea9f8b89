"""Files and records that cannot be read: what Spark says of them, in our words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from deltaworks.errors import DeltaworksError, RunError, SetupError
from deltaworks.lake.storage import local_path

if TYPE_CHECKING:
    from collections.abc import Sequence

RECORD = " holds a record that cannot be read: "  # also the words of an error that is raised inside Spark


class BadRecordError(RunError):
    """A record that is broken, or does not fit the schema; nothing was written."""

    def __init__(self, file: str, record: str, *, where: str) -> None:
        super().__init__(f"{where}: {file}{RECORD}{record}", hint=_OF_TOPIC if file.startswith("topic ") else _OF_FILE)
        self.file, self.record = file, record


_OF_FILE = "Mend it; or give the schema a column _corrupt_record STRING and set such rows aside with a rule."
_OF_TOPIC = (
    "Mend the schema, or let such records be set aside: onBadRecord: setAside. startingOffsets can begin after it."
)


class HeaderError(RunError):
    """A CSV file has other columns than the schema, or than the first file."""

    def __init__(self, file: str, why: str, *, where: str) -> None:
        super().__init__(
            f"{where}: {file} has another header: {why}.",
            hint="Mend the file or the schema; options: {enforceSchema: true} takes columns by their place.",
        )
        self.file = file


def unread(messages: Sequence[str], where: str) -> DeltaworksError | None:
    """Our error for the messages of one of Spark's, the cause last; none where no file is to blame."""
    told = next((each for message in messages if (each := _TOLD.match(message))), None)
    if told is not None:
        return BadRecordError(_shown(told[1]), told[2], where=where)
    found = next((each for message in messages if (each := _READING.search(message))), None)
    return None if found is None else _of_file(_shown(found[1]), messages, where)


# Only at the start: the plan that some errors show has these words too.
_TOLD = re.compile(rf"\[USER_RAISED_EXCEPTION\] (.+?){RECORD}(.*?)(?: SQLSTATE: \w+)?$")
_READING = re.compile(r"(?:Encountered error while reading file|^Could not read file:) (.+?)(?:\.\s|\.?$)")
_HEADER = re.compile(r"CSV header does not conform to the schema\.\s+Header: (.*)\s+Schema: (.*)")
_LENGTHS = re.compile(r"Header length: (\d+), schema size: (\d+)")


def _of_file(file: str, messages: Sequence[str], where: str) -> DeltaworksError:
    cause = messages[-1]
    if header := _HEADER.search(cause):
        return HeaderError(file, f"{header[1]} instead of {header[2]}", where=where)
    if lengths := _LENGTHS.search(cause):
        return HeaderError(file, f"{lengths[1]} columns instead of {lengths[2]}", where=where)
    if any("[MALFORMED_RECORD_IN_PARSING" in message for message in messages):
        return BadRecordError(file, _record(messages), where=where)
    if "Permission denied" in cause:
        return SetupError(f"{where}: {file} may not be read.", hint="Give the user who runs this the right to read it.")
    if "does not exist" in cause:
        return RunError(f"{where}: {file} is gone since the files were listed.", hint="Run it again.")
    return RunError(f"{where}: {file} cannot be read: {_reason(messages)}", hint="Mend or remove it, and run again.")


def _record(messages: Sequence[str]) -> str:
    """What Spark tells of a record: a line of CSV whole, of JSON only where in it reading ended."""
    line = re.search(r"Malformed CSV record: (.*?)(?: SQLSTATE: \w+)?$", messages[-1], re.DOTALL)
    return _short(line[1] if line else _reason(messages))


def _reason(messages: Sequence[str]) -> str:
    told = next((message for message in reversed(messages) if message.strip()), "Spark does not say why")
    return _short(re.sub(r"^\[[A-Z_.]+\]\s*|\s*SQLSTATE: \w+.*$", "", told))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"


def _shown(uri: str) -> str:
    local = local_path(uri)
    return unquote(uri) if local is None else str(local)
