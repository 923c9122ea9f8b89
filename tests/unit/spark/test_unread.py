from __future__ import annotations

import pytest

from deltaworks.errors import DeltaworksError, RunError, SetupError
from deltaworks.spark.unread import RECORD, BadRecordError, HeaderError, unread

READING = "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///in/a%20b.csv.  SQLSTATE: KD001"
GONE = "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file s3a://b/a%20b.csv. File does not exist."
MALFORMED = (
    "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected in record parsing: [null].\nParse"
)


def told(*messages: str) -> DeltaworksError:
    found = unread(messages, "load")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("messages", "kind", "said"),
    [
        (
            (f"[USER_RAISED_EXCEPTION] file:/in/a%20b.json{RECORD}{{,}} SQLSTATE: P0001",),
            BadRecordError,
            "load: /in/a b.json holds a record that cannot be read: {,}",
        ),
        (
            (READING, MALFORMED, "[MALFORMED_CSV_RECORD] Malformed CSV record: 2,y SQLSTATE: KD000"),
            BadRecordError,
            "load: /in/a b.csv holds a record that cannot be read: 2,y",
        ),
        (
            (READING, MALFORMED, "Unexpected end-of-input\n at [Source: UNKNOWN; line: 1, column: 13]"),
            BadRecordError,
            "load: /in/a b.csv holds a record that cannot be read: "
            "Unexpected end-of-input at [Source: UNKNOWN; line: 1, column: 13]",
        ),
        (
            (READING, "CSV header does not conform to the schema.\n Header: b, a\n Schema: a, b\nExpected: a"),
            HeaderError,
            "load: /in/a b.csv has another header: b, a instead of a, b.",
        ),
        (
            (READING, "Number of column in CSV header is not equal:\n Header length: 2, schema size: 1\nCSV file: x"),
            HeaderError,
            "load: /in/a b.csv has another header: 2 columns instead of 1.",
        ),
        ((GONE, "/in/a b.csv (Permission denied)"), SetupError, "load: s3a://b/a b.csv may not be read."),
        (
            (GONE, "File s3a://b/a b.csv does not exist"),
            RunError,
            "load: s3a://b/a b.csv is gone since the files were listed.",
        ),
        ((READING, "Not an Avro data file"), RunError, "load: /in/a b.csv cannot be read: Not an Avro data file"),
        (
            ("Could not read file: file:/in/a.b", "Not an Avro data file"),
            RunError,
            "load: /in/a.b cannot be read: Not an Avro data file",
        ),
        ((READING, "x" * 5000), RunError, f"load: /in/a b.csv cannot be read: {'x' * 299}…"),
    ],
)
def test_the_file_is_named_with_what_is_wrong(messages: tuple[str, ...], kind: type, said: str) -> None:
    error = told("Job aborted", *messages)

    assert (type(error), str(error)) == (kind, said)
    assert error.hint


def test_where_no_file_is_to_blame_nothing_is_said() -> None:
    assert unread(("Job aborted", "Division by zero"), "load") is None


def test_the_plan_that_an_error_shows_is_not_taken_for_a_bad_record() -> None:
    plan = f"[UNRESOLVED_COLUMN] There is no x.\n+- Filter raise_error(concat(_metadata.file_path, {RECORD}, record))"

    assert unread((plan,), "load") is None
