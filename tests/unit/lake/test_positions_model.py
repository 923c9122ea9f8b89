"""Writers, crashes, replays, restores and rewinds against a plain dictionary that says what must be true."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.unit.tables import append, clean_up, restore

from deltaworks.lake import positions
from deltaworks.lake.commit import Commit, Mark, Position
from deltaworks.lake.landing import Landing, landed
from deltaworks.lake.log import Log
from deltaworks.lake.moves import OvertakenError, move
from deltaworks.lake.positions import PastGoneError, PositionLostError, Reached, TakenBackError
from deltaworks.lake.table import Table, VersionNotFoundError, newest

APP = "deltaworks/orders"
OTHERS = -1  # the value of rows that the pipeline did not land
HAPPENS = ["others write", "a restore", "a restore", "the note is lost", "an old note", "log clean-up", "both are lost"]
WRITERS = st.sampled_from(["one", "two"])


@dataclass
class Model:
    """What must be true, as plain values."""

    rows: dict[int, Counter[int]] = field(default_factory=dict)  # of each version
    inside: dict[int, frozenset[int]] = field(default_factory=dict)  # the versions whose work each version still has
    stands: dict[int, int] = field(default_factory=dict)  # where the pipeline goes on, by the version that said so
    restores: set[int] = field(default_factory=set)
    batch: int = 0
    last: int = -1  # the version that holds the last mark
    seen: int = -1  # on which that was decided
    noted: int | None = None  # the batch of which the cache tells
    first: int = 0  # the oldest version that the log still has

    @property
    def version(self) -> int:
        return max(self.rows)

    @property
    def lost(self) -> bool:
        return self.batch > 0 and self.last < self.first and self.noted != self.batch

    @property
    def taken_back(self) -> bool:
        between = {version for version in self.restores if self.seen < version < self.last}
        return self.batch > 0 and (self.last not in self.inside[self.version] or bool(between))

    def committed(self, version: int, rows: Counter[int]) -> None:
        self.rows[version] = self.rows.get(version - 1, Counter()) + rows
        self.inside[version] = self.inside.get(version - 1, frozenset()) | {version}

    def restored(self, version: int, target: int) -> None:
        self.rows[version] = self.rows[target]
        self.inside[version] = self.inside[target] | {version}
        self.restores.add(version)

    def marked(self, version: int, end: int, seen: int) -> None:
        self.stands[version], self.batch, self.last, self.seen = end, self.batch + 1, version, seen


@dataclass(frozen=True)
class Decided:
    """A batch that a writer has decided on, and the handle by which it will commit."""

    commit: Commit
    handle: DeltaTable
    rows: pa.Table


class Pipelines(RuleBasedStateMachine):
    """Two copies of one pipeline, and all that can happen to them and their table."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "table"
        self.log = Log(str(self.path))
        self.model = Model()
        self.decided: dict[str, Decided] = {}
        self.done: list[Decided] = []
        self.notes: list[tuple[int, bytes]] = []
        self.runs = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    # What the table says

    def table(self) -> Table:
        found = newest(self.log)
        assert found is not None
        return found

    def reached(self) -> Reached | None:
        return positions.reached(self.log, newest(self.log), "orders")

    def refused(self) -> bool:
        """Whether nobody may go on from the position, which is told then."""
        trouble = PositionLostError if self.model.lost else TakenBackError if self.model.taken_back else None
        if trouble is None:
            return False
        with pytest.raises(trouble):
            self.reached()
        return True

    def run_id(self) -> str:
        self.runs += 1
        return f"run-{self.runs}"

    def commit_to(self, end: int, start: int | None) -> Commit:
        number = self.model.batch + 1
        return Commit(
            run_id=self.run_id(),
            pipeline="orders",
            batch=number,
            position=Position(source="shop", start=start, end=end),
            mark=Mark(APP, number),
            seen=self.model.version,
        )

    # What can happen

    @initialize()
    def made(self) -> None:
        append(self.path, rows_of([OTHERS]))
        self.model.committed(0, Counter([OTHERS]))

    @rule(
        writer=WRITERS,
        count=st.integers(1, 3),
        fresh=st.booleans(),
        dies=st.sampled_from(["", "", "", "before the commit", "before the note"]),
    )
    def work(self, writer: str, count: int, fresh: bool, dies: str) -> None:
        """Let a writer decide on a batch, or commit what it has decided, however long ago."""
        decided = self.decided.pop(writer, None)
        if decided is None:
            self.decide(writer, count)
        elif dies != "before the commit":
            self.land(decided, fresh=fresh, noted=not dies)

    @rule(writer=WRITERS, count=st.integers(1, 3))
    def work_undisturbed(self, writer: str, count: int) -> None:
        """Let a writer do both at once."""
        self.decided.pop(writer, None)
        self.decide(writer, count)
        if decided := self.decided.pop(writer, None):
            self.land(decided, fresh=False, noted=True)

    def decide(self, writer: str, count: int) -> None:
        """Read the position and what follows it."""
        if self.refused():
            return
        found = self.reached()
        start = found.position.end if found else 0
        rows = list(range(start, start + count))
        self.decided[writer] = Decided(self.commit_to(start + count, start), DeltaTable(self.path), rows_of(rows))

    def land(self, decided: Decided, *, fresh: bool, noted: bool) -> None:
        """Commit by a handle of now or of then, read back, and note it."""
        self.try_to_land(decided, fresh=fresh)
        found = landed(self.log, decided.commit, decided.commit.seen)
        next_one = decided.commit.batch == self.model.batch + 1
        assert (found.landing is Landing.OURS) <= next_one, "a batch landed after another run had moved the position"
        if found.landing is not Landing.OURS or found.commit is None:
            restored = any(version > decided.commit.seen for version in self.model.restores)
            in_the_way = restored or self.model.first > decided.commit.seen  # or the log before it is gone
            assert not next_one or in_the_way, "a batch did not land although nobody was in its way"
            return
        self.note_landing(decided, found.commit.version, noted=noted)

    def try_to_land(self, decided: Decided, *, fresh: bool) -> None:
        commit, handle = decided.commit, DeltaTable(self.path) if fresh else decided.handle
        assert commit.mark is not None
        marks = [Transaction(APP, commit.mark.version)]
        properties = CommitProperties(custom_metadata={"userMetadata": commit.to_json()}, app_transactions=marks)
        with suppress(DeltaError):  # whether it landed is for the log to say
            # The engine compares marks with those of later commits only.
            if (handle.transaction_version(APP) or 0) < commit.mark.version:
                write_deltalake(handle, decided.rows, mode="append", commit_properties=properties)

    def note_landing(self, decided: Decided, version: int, *, noted: bool) -> None:
        commit, model = decided.commit, self.model
        assert commit.position is not None
        model.committed(version, Counter(decided.rows["n"].to_pylist()))
        model.marked(version, commit.position.end, commit.seen)
        self.done.append(decided)
        if noted:
            found = Reached.of(commit, model.batch, version, Table(self.log, version).id)
            positions.remember(self.log, "orders", found)
            self.cached()

    def cached(self) -> None:
        self.model.noted = self.model.batch
        self.notes.append((self.model.batch, self.note.read_bytes()))

    @property
    def note(self) -> Path:
        return self.path / "_deltaworks/orders.json"

    @precondition(lambda self: self.done)
    @rule(data=st.data(), fresh=st.booleans())
    def replay(self, data: st.DataObject, fresh: bool) -> None:
        """Do once more what was done, as one who does not know that it was: nothing may land twice."""
        self.try_to_land(data.draw(st.sampled_from(self.done)), fresh=fresh)

    @rule(
        data=st.data(),
        what=st.sampled_from(["others write", "the note is lost", "an old note", "log clean-up", "both are lost"]),
    )
    def something_happens(self, data: st.DataObject, what: str) -> None:
        match what:
            case "others write":
                self.others_write()
            case "a restore" if self.model.version > self.model.first:
                self.restore(data)
            case "the note is lost":
                self.lose_the_note()
            case "an old note" if self.notes:
                self.find_an_old_note(data)
            case "log clean-up" | "both are lost" if not self.model.taken_back:
                if what == "both are lost":
                    self.lose_the_note()
                self.clean_up_the_log(data)

    def others_write(self) -> None:
        self.model.committed(append(self.path, rows_of([OTHERS])), Counter([OTHERS]))

    def restore(self, data: st.DataObject) -> None:
        """Take the table back, or forth again, as another tool does."""
        target = data.draw(st.integers(self.model.first, self.model.version - 1))
        self.model.restored(restore(self.path, target), target)

    def lose_the_note(self) -> None:
        self.note.unlink(missing_ok=True)
        self.model.noted = None

    def find_an_old_note(self, data: st.DataObject) -> None:
        """Have the cache as it was at some time, as a copy of the folder may have it."""
        self.model.noted, text = data.draw(st.sampled_from(self.notes))
        self.note.parent.mkdir(exist_ok=True)
        self.note.write_bytes(text)

    def clean_up_the_log(self, data: st.DataObject) -> None:
        """Remove old commits; a RESTORE after the last batch is one that the log still has to tell of."""
        model = self.model
        telling = min((version for version in model.restores if version > model.last), default=model.version)
        places = {model.first, min(model.last + 1, telling), telling}
        model.first = data.draw(st.sampled_from(sorted(place for place in places if place >= model.first)))
        clean_up(self.path, before=model.first)

    @rule(data=st.data(), how=st.sampled_from(["set", "keep", "rewind", "rewind", "too late"]))
    def somebody_moves_it(self, data: st.DataObject, how: str) -> None:
        match how:
            case "set":
                self.moved(data.draw(st.integers(0, 20)))
            case "keep" if self.model.taken_back and not self.model.lost:
                self.keep()
            case "rewind":
                self.rewind(data)
            case "too late" if self.model.batch > 0:
                self.move_too_late()

    def keep(self) -> None:
        found = positions.last_known(self.log, self.table(), "orders")
        assert found is not None
        self.moved(found.position.end)
        assert (now := self.reached()) is not None
        assert now.position.end == found.position.end

    def rewind(self, data: st.DataObject) -> None:
        """Go on from where the rows of a version ended."""
        model, version = self.model, data.draw(st.integers(0, self.model.version + 1))
        there = sorted(each for each in model.stands if model.first <= each and each in model.inside.get(version, ()))
        expected: Any = None
        if not model.first <= version <= model.version:
            expected = VersionNotFoundError
        elif not there and model.first > 0:
            expected = PastGoneError
        if expected is not None:
            with pytest.raises(expected):
                positions.at_version(self.table(), "orders", version)
            return
        found = positions.at_version(self.table(), "orders", version)
        assert (found and found.position.end) == (model.stands[there[-1]] if there else None)
        if found is not None:
            self.moved(found.position.end)

    def move_too_late(self) -> None:
        """Move a position by what was decided before another run moved it."""
        late = replace(self.commit_to(0, None), mark=Mark(APP, self.model.batch))
        with pytest.raises(OvertakenError):
            move(self.table(), late)

    def moved(self, to: int) -> None:
        commit = replace(self.commit_to(to, None), why="asked")
        found = move(self.table(), commit)
        assert found.version is not None
        self.model.committed(found.version, Counter())
        self.model.marked(found.version, to, commit.seen)
        self.cached()

    # What is always true

    @invariant()
    def the_rows_are_those_of_the_model(self) -> None:
        if self.model.rows:
            table = self.table()
            assert table.version == self.model.version
            assert Counter(table.to_arrow()["n"].to_pylist()) == self.model.rows[table.version]

    @invariant()
    def the_position_is_that_of_the_model_or_the_trouble_is_told(self) -> None:
        if not self.model.rows:
            return
        if self.refused():
            return
        found = self.reached()
        assert (found.position.end if found else None) == self.model.stands.get(self.model.last)
        assert (found.batch if found else 0) == self.model.batch


def rows_of(values: list[int]) -> pa.Table:
    return pa.table({"n": pa.array(values, pa.int64())})


TestPipelines = Pipelines.TestCase
# A case of so few steps need not be made shorter, which would take minutes.
TestPipelines.settings = settings(max_examples=40, stateful_step_count=30, phases=[Phase.generate])
