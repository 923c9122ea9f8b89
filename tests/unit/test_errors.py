from __future__ import annotations

import copy
import pickle
import pkgutil
import re
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from tests.unit.tables import append

import deltaworks
from deltaworks import errors
from deltaworks.errors import (
    AwayError,
    ConfigError,
    ConflictError,
    DeltaworksError,
    RefusedError,
    RunError,
    SetupError,
    StoppedError,
    did_you_mean,
)
from deltaworks.lake.additions import RowsChangedError
from deltaworks.lake.commit import Commit, Position
from deltaworks.lake.ddl import SchemaTextError
from deltaworks.lake.expectation import Expectation
from deltaworks.lake.feed import FeedVacuumedError, NoFeedError, NothingBetweenError, OutsideFeedError
from deltaworks.lake.feed_columns import ColumnsChangedError
from deltaworks.lake.file_lists import ListLostError
from deltaworks.lake.globs import NoPatternError
from deltaworks.lake.keyed import KeyGoneError
from deltaworks.lake.log import DamagedLogError, Log
from deltaworks.lake.moves import OvertakenError
from deltaworks.lake.positions import (
    GivenUpError,
    PastGoneError,
    PositionLostError,
    Reached,
    RecreatedError,
    ReplacedError,
    RowsGoneError,
    TakenBackError,
)
from deltaworks.lake.remains import VacuumedError
from deltaworks.lake.schema_file import SchemaFileError
from deltaworks.lake.storage import AbsentError, NowhereError, UnreachableError
from deltaworks.lake.table import NotATableError, UnreadableTableError, VersionNotFoundError
from deltaworks.lake.travel import CleanedUpError, NoVersionThenError, instant
from deltaworks.pipeline.checking import InvalidFileError
from deltaworks.pipeline.document import UnreadableFileError
from deltaworks.pipeline.incremental import OtherSourceError, RenamedError, TakenOverError
from deltaworks.spark.batch import NotSharedError
from deltaworks.spark.conflicts import Conflict, WriteConflictError
from deltaworks.spark.databases.address import Address
from deltaworks.spark.databases.base import BrokenOffError, CannotConnectError
from deltaworks.spark.databases.cursor import CursorLostError, TooManyTiesError
from deltaworks.spark.databases.marks import MarksElsewhereError
from deltaworks.spark.errors import ColumnNotFoundError, SourceAlteredError
from deltaworks.spark.kafka.broker import KafkaUnreachableError, TopicNotFoundError
from deltaworks.spark.kafka.offsets import NoSuchOffsetError
from deltaworks.spark.kafka.position import OffsetsGoneError
from deltaworks.spark.kafka.ranges import NoRangeError
from deltaworks.spark.keys import DuplicateKeysError, NullKeysError, TiedKeysError
from deltaworks.spark.landing import BrokenRuleError
from deltaworks.spark.safety import UnsafeWritersError
from deltaworks.spark.sinks.jdbc_load import ShortenedError
from deltaworks.spark.sources.delta_follow import GapError, StartAheadError, StartLostError
from deltaworks.spark.sources.files_avro import OtherTypesError
from deltaworks.spark.sources.files_new import ChangedError, ChangedMeanwhileError
from deltaworks.spark.sources.files_read import NothingToReadError
from deltaworks.spark.sources.incremental import NoPositionError
from deltaworks.spark.sources.jdbc_cursor import KeysUnknownError, NullCursorsError
from deltaworks.spark.unread import BadRecordError, HeaderError
from deltaworks.vault import CredentialNotFoundError
from deltaworks.vault.file import NoVaultError, WrongKeyError
from deltaworks.vault.private import OpenToOthersError
from deltaworks.vault.sealing import DamagedVaultError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PLAIN = [DeltaworksError, RunError, ConflictError, AwayError, ConfigError, SetupError, RefusedError, StoppedError]


def family(kind: type[DeltaworksError] = DeltaworksError) -> Iterator[type[DeltaworksError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from family(child)


REACHED = Reached(batch=7, position=Position(source="delta:1"), run_id="run-1")


@pytest.fixture
def one_of_each(tmp_path: Path) -> list[DeltaworksError]:
    append(tmp_path)
    return [
        *(kind("It broke.", hint="Mend it.") for kind in PLAIN),
        CredentialNotFoundError("pg", looked_in=("the environment",), hint="Add it."),
        NoVaultError(tmp_path),
        WrongKeyError(tmp_path, "passphrase"),
        DamagedVaultError(tmp_path),
        OpenToOthersError("Others can read it.", remedy="chmod 600 x"),
        DamagedLogError("orders", "0.json"),
        NotATableError("orders"),
        NowhereError("foo://x", "unknown"),
        NoVersionThenError(Log(str(tmp_path)), instant("2001-01-01")),
        AbsentError("s3://x", "there is no y"),
        UnreachableError("s3://x", "refused"),
        UnsafeWritersError("x", hint="y"),
        UnreadableTableError("orders", "a feature"),
        VersionNotFoundError("orders", 9, range(3)),
        InvalidFileError([("a", "b"), ("c", "d")]),
        UnreadableFileError("x.yaml is empty.", hint="Write."),
        ColumnNotFoundError("id", ["a", "b"], where="load"),
        SourceAlteredError("extract: the columns changed.", hint="Run it again."),
        VacuumedError("orders", 1, gone=2, whole=range(2, 5)),
        NoFeedError("orders"),
        OutsideFeedError(Log(str(tmp_path)), 9, [0]),
        NothingBetweenError(Log(str(tmp_path)), 0, 0),
        FeedVacuumedError(Log(str(tmp_path)), 0, []),
        ColumnsChangedError("orders", 1, "id", range(2, 5)),
        BrokenRuleError(Expectation(name="positive", check="n > 0"), 1, 2, ["{}"]),
        NullKeysError(3, ["id"]),
        DuplicateKeysError(2, [("1", 2)]),
        TiedKeysError([("1", 2)]),
        ShortenedError("at", 2, 0),
        WriteConflictError("Too late.", hint="Again.", conflict=Conflict.APPEND),
        NoPatternError("a[", "`[` has no `]`"),
        SchemaTextError("'it' is no type"),
        SchemaFileError("a.ddl", "it is not there", hint="Check it."),
        NothingToReadError("in"),
        ListLostError("orders", "orders/files/1.json", "is not there"),
        ChangedError(["in/a.csv"]),
        ChangedMeanwhileError(["in/a.csv"] * 5),
        BrokenOffError("It broke off.", hint="Again."),
        CannotConnectError("MySQL", Address(host="db", port=3306, database="shop"), "it is asleep"),
        BadRecordError("in.csv", "1,2", where="load"),
        HeaderError("in.csv", "b, a instead of a, b", where="load"),
        KafkaUnreachableError("localhost:9092", "Connection refused"),
        TopicNotFoundError("There is no topic 'order'", "order", ["orders"]),
        NoSuchOffsetError("It is gone.", hint="Begin later."),
        AwayError("It is away.", hint="Wait."),
        NotSharedError("/tmp/x", 7, 3),
        TakenOverError("orders", 7, "run 1"),
        OtherSourceError("orders", REACHED, "delta:2"),
        RenamedError("lake/orders", "orders", "old-orders"),
        TakenBackError("lake/orders", "orders", REACHED),
        RecreatedError("lake/orders", "orders", 3),
        ReplacedError("lake/orders", "orders", REACHED, "returns, version 7"),
        KeyGoneError("monday", "as version 3, but the table was replaced since"),
        PositionLostError("lake/orders", "orders", 7),
        OffsetsGoneError("Offset 7 is gone"),
        GapError("lake/orders", "version 7 is gone"),
        RowsChangedError(7),
        StartLostError("lake/orders", 3, "version 3 is gone", range(4, 8)),
        StartAheadError("lake/orders", 9, 7),
        CleanedUpError("lake/orders", instant("2001-01-01"), 3, instant("2002-01-01")),
        OtherTypesError("id is an int, and text"),
        NoRangeError("b is before a."),
        GivenUpError("lake/orders", "orders", REACHED),
        PastGoneError("lake/orders", "orders", 3, 5),
        RowsGoneError("lake/orders", 3, 5),
        OvertakenError("lake/orders", Commit(run_id="run-1", pipeline="orders"), "run 2"),
        NoPositionError("{", "it is no JSON"),
        CursorLostError("shop.orders", "the column is gone"),
        TooManyTiesError("shop.orders", "updated_at", "2024-01-01"),
        NullCursorsError("shop.orders", "updated_at", 3),
        KeysUnknownError("it has no primary key"),
        MarksElsewhereError("shop.orders", "work.deltaworks_positions", "shop.deltaworks_positions", "work"),
        NotSharedError("lake/.orders.staging", 10, 5),
    ]


@pytest.mark.parametrize("copied", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy], ids=["pickle", "copy"])
def test_every_error_crosses_a_process_border_with_all_it_knows(
    one_of_each: list[DeltaworksError], copied: Callable[[DeltaworksError], DeltaworksError]
) -> None:
    for error in one_of_each:
        error.record = "runs/orders/1"
        revived = copied(error)

        assert type(revived) is type(error)
        assert (str(revived), revived.args) == (str(error), error.args)
        assert revived.__dict__ == error.__dict__
        assert revived.hint


def test_every_error_of_this_package_is_tried(one_of_each: list[DeltaworksError]) -> None:
    for module in pkgutil.walk_packages(deltaworks.__path__, "deltaworks."):
        import_module(module.name)
    ours = {kind for kind in family() if kind.__module__.startswith("deltaworks.")}

    assert ours - {type(error) for error in one_of_each} == set()


@pytest.mark.parametrize(
    ("kind", "code", "transient"),
    [
        (DeltaworksError, 1, False),
        (RunError, 1, False),
        (ConflictError, 1, True),
        (AwayError, 1, True),
        (ConfigError, 2, False),
        (SetupError, 3, False),
        (RefusedError, 4, False),
        (StoppedError, 130, False),
    ],
)
def test_a_family_is_what_a_caller_can_do(kind: type[DeltaworksError], code: int, transient: bool) -> None:
    assert (kind.exit_code, kind.transient) == (code, transient)


def test_the_tree_at_the_top_of_the_file_is_the_tree() -> None:
    drawn = re.findall(r"(\w+Error)\s+(\d+)", errors.__doc__ or "")

    assert dict(drawn) == {kind.__name__: str(kind.exit_code) for kind in PLAIN}


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("mergKeys", ["mergeKeys", "path"], "Did you mean 'mergeKeys'?"),
        ("MERGEKEYS", ["mergeKeys", "path"], "Did you mean 'mergeKeys'?"),
        ("zzz", ["b", "a"], "Known: a, b."),
        ("zzz", [], "Known: none."),
        ("", ["a"], "Known: a."),
    ],
)
def test_the_closest_known_word_is_said_or_all_of_them(word: str, known: list[str], expected: str) -> None:
    assert did_you_mean(word, known) == expected
