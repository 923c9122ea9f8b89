"""Rows into a Delta table, as one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from deltaworks.lake import positions
from deltaworks.lake.after import After
from deltaworks.lake.features import require_writable
from deltaworks.lake.keyed import keyed_mark
from deltaworks.lake.log import Log
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import Bytes, Columns, Flag, FromText, Location, Whole, problem
from deltaworks.lake.moves import move
from deltaworks.lake.positions import Reached
from deltaworks.lake.retention import require_marks_kept
from deltaworks.lake.sql import quoted
from deltaworks.lake.table import NotATableError, Table, newest
from deltaworks.spark.catalog import TableName, location
from deltaworks.spark.sinks.base import Sink, WritePlan, beside
from deltaworks.spark.sinks.delta_rules import check_mode, check_together

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.folder import Folder
    from deltaworks.lake.keyed import KeyedMark
    from deltaworks.runs.result import LoadResult
    from deltaworks.spark.batch import Batch
    from deltaworks.spark.keys import Keys
    from deltaworks.spark.look import Findings
    from deltaworks.spark.surroundings import Surroundings
    from deltaworks.vault.storage import Access


MOST_OPENED = 3  # versions of the table


class DeltaSink(Sink):
    """A Delta table. Every load is one commit that says where it came from."""

    sink_type: Literal["DeltaLake"]
    """`DeltaLake`."""
    format: Literal["delta"] = "delta"
    """Always `delta`; may be left out."""
    path: Location = ""
    """Where the table is, or will be. This or `table` is needed."""
    table: TableName | None = None
    """The table's name in the session's catalog: `name`, `schema.name` or `catalog.schema.name`."""
    merge_schema: Flag = False
    """Let rows bring new columns and wider types; columns the rows lack are null, or keep their value in an Upsert."""
    partition_by: Columns | None = None
    """The columns whose values become folders, when the table is made."""
    cluster_by: Columns | None = None
    """The columns by which optimize keeps rows together (liquid clustering), when the table is made."""
    enable_change_data_feed: Flag | None = None
    """Keep a change feed, when the table is made."""
    data_skipping_num_indexed_cols: Annotated[Whole, Field(ge=-1)] | None = None
    """For how many columns to keep statistics, when the table is made; -1 means all."""
    isolation_level: Literal["Serializable", "WriteSerializable"] | None = None
    """How strictly writers are kept apart, when the table is made. Open-source Delta knows only `Serializable`."""
    table_properties: Annotated[dict[str, str | int | float | bool], FromText()] = Field(default_factory=dict)
    """Other table properties, when the table is made."""
    optimize_write: Flag | None = None
    """Shuffle rows before they are written, for fewer and larger files."""
    auto_compact: Flag | None = None
    """Compact small files right after the load, in a commit of its own, once there are many."""
    target_file_size: Bytes | None = None
    """About how large files should be: `"128MB"` or bytes. Turns `optimizeWrite` on; counts for compaction too."""
    replace_where: str | None = None
    """For Overwrite: replace only the rows this condition selects. A new row outside it fails the load."""
    partition_overwrite_mode: Literal["static", "dynamic"] | None = None
    """For Overwrite: `dynamic` replaces only the partitions that the rows have."""
    overwrite_schema: Flag = False
    """For Overwrite: let columns, types and partitioning change to those of the rows."""
    merge_keys: Columns | None = None
    """For Upsert: the columns that identify a row. Null matches null."""
    update_condition: str | None = None
    """For Upsert: update a row already there only when this holds, as `source.at > target.at`."""
    delete_condition: str | None = None
    """For Upsert: delete the row already there, and insert nothing, when this holds, as `source.cancelled`."""
    update_columns: Columns | None = None
    """For Upsert: update only these columns of a row already there; all where none are given."""
    insert_columns: Columns | None = None
    """For Upsert: fill only these columns of a new row; all where none are given."""
    on_null_keys: Literal["match", "fail"] = "match"
    """For Upsert: a null key matches a null key, or fails the load."""
    on_duplicate_keys: Literal["fail", "keepNewest"] | None = None
    """For Upsert: a key that several rows have fails the load, or the newest of them by `orderBy` is kept.
    Where nothing is said, the newest record of a topic or change of a feed is kept; all else fails."""
    order_by: Columns | None = None
    """For `keepNewest`: the columns whose largest values make a row the newest."""
    checks: Flag = True
    """For Upsert: look for null and repeated keys first, which also lets files be skipped; `false` trusts the rows."""
    single_driver: Flag = False
    """On S3: nobody else writes this table, so that no proof is needed that several writers are safe there."""
    max_commit_attempts: Annotated[Whole, Field(ge=1)] = 10
    """How often to try when other writers are faster."""
    optimize: Flag | None = None
    """As in `after`."""
    z_order_columns: Columns | None = None
    """As in `after`."""
    vacuum_retention_hours: Annotated[Whole, Field(ge=0)] | None = None
    """As in `after`."""
    after: After = Field(default_factory=After)
    """What is done to the table once the rows have landed."""

    # What one load has opened, so that it is opened once.
    _logs: list[Log] = PrivateAttr(default_factory=list)
    _opened: dict[int, Table] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        check_together(self)
        return self

    @property
    def afterwards(self) -> After:
        """What is done after the load, from both places where it can be said."""
        said = {name: getattr(self, name) for name in After.model_fields if getattr(self, name) is not None}
        return self.after.model_copy(update=said)

    @property
    def place(self) -> str:
        """The table's path, or its name where that is all there is."""
        return self.path or self.table or ""

    @property
    def takes_keys(self) -> bool:
        """A Delta commit can carry a key."""
        return True

    def mark_for(self, pipeline: str, key: str, *, again: bool) -> KeyedMark:
        """The mark, which the table's own log keeps."""
        return keyed_mark(self.target(), pipeline, key, again=again)

    @property
    def has_folder(self) -> bool:
        """A table is one."""
        return True

    @property
    def folder(self) -> Folder:
        """The table's."""
        return self.log.folder

    def check_incremental(self, mode: WriteMode) -> None:
        """Only the partitions of a batch may be replaced by it."""
        if mode is WriteMode.OVERWRITE and self.partition_overwrite_mode != "dynamic":
            raise problem(
                "Every batch would replace the rows of the one before",
                "Write partitionOverwriteMode: dynamic, where a batch holds whole partitions; else Append or Upsert.",
            )

    def reached(self, pipeline: str) -> Reached | None:
        """What the table's own log says."""
        table = self.target()
        if table is not None:
            require_marks_kept(table)
        return positions.reached(self.log, table, pipeline)

    def last_known(self, pipeline: str) -> Reached | None:
        """What the table's own log says, or the note beside a table that is gone."""
        return positions.last_known(self.log, self.target(), pipeline)

    def last_batch(self, pipeline: str) -> int:
        """The version of its mark, or what is noted beside a table that was made anew."""
        return positions.last_batch(self.log, self.target(), pipeline)

    def at_version(self, pipeline: str, version: int) -> Reached | None:
        """What the commits say whose rows the table had then, and still has."""
        table = self.target()
        found = positions.at_version(table, pipeline, version) if table else None
        if table and found:
            positions.require_standing(table, pipeline, found, version)
        return found

    def others(self, pipeline: str, source: str) -> Iterable[str]:
        """What the log knows of them."""
        table = self.target()
        return positions.others(self.log, table, pipeline, source) if table else ()

    def moves(self, pipeline: str) -> Iterable[Reached]:
        """What the last commits say."""
        table = self.target()
        return positions.moves(table, pipeline) if table else ()

    def landed(self, commit: Commit, result: LoadResult) -> Reached:
        """As the commit says, noted beside the table."""
        assert commit.mark is not None
        assert commit.pipeline is not None
        assert result.version is not None
        found = Reached.of(commit, commit.mark.version, result.version, self.at(result.version).id)
        positions.remember(self.log, commit.pipeline, found)
        return found

    def require_movable(self) -> None:
        """The table must be there, remember marks, and ask for nothing that we do not know."""
        table = self.target()
        if table is None:
            raise NotATableError(self.path)
        require_marks_kept(table)
        require_writable(table)

    def move(self, commit: Commit) -> Reached:
        """A commit without files."""
        return move(self.at(commit.seen), commit)

    def check_mode(self, mode: WriteMode) -> None:
        """Upsert needs keys; what is only for another mode is refused, because it would do nothing."""
        check_mode(self, mode)

    @property
    def needs_catalog(self) -> bool:
        """It does where it has a name."""
        return self.table is not None

    def located(self, around: Surroundings) -> Self:
        """This sink with the path of its name, and the way there."""
        if self.path or self.table is None:
            return super().located(around)
        return self.model_copy(update={"path": location(around.session(), self.table)}).located(around)

    @property
    def log(self) -> Log:
        """The table's commits, whether there are any or not."""
        if not self._logs:
            self._logs.append(Log(self.path, self.access))
        return self._logs[0]

    def target(self) -> Table | None:
        """The table as it is now; a version that was opened for this load is not opened again."""
        if not self._opened:
            found = newest(self.log)
            return None if found is None else self._opened.setdefault(found.version, found)
        version = self.log.latest(since=max(self._opened))
        return None if version is None else self.at(version)

    def at(self, version: int) -> Table:
        """The table as it was at a version; the last few are kept."""
        found = self._opened.get(version) or Table(self.log, version)
        kept = sorted({*self._opened, version})[-MOST_OPENED:]
        self._opened = {each: found if each == version else self._opened[each] for each in kept}
        return found

    def reached_by(self, access: Access) -> Self:
        """This sink with this way to its table, of which it knows nothing yet."""
        found = super().reached_by(access)
        found._logs, found._opened = [], {}
        return found

    def row_keys(self, mode: WriteMode) -> Keys | None:
        """The merge keys, which are looked at unless the file says that the source can be trusted."""
        from deltaworks.spark.keys import Keys

        if mode is not WriteMode.UPSERT or self.merge_keys is None:
            return None
        table = self.target()
        there = {name.lower() for name in table.partition_columns} if table else ()
        return Keys(
            columns=self.merge_keys,
            partitions=tuple(key for key in self.merge_keys if key.lower() in there),
            on_null=self.on_null_keys,
            on_duplicate=self.on_duplicate_keys,
            order_by=self.order_by or (),
            checked=self.checks,
        )

    def applies_changes(self, mode: WriteMode) -> bool:
        """An upsert does, unless the file says itself what is deleted."""
        return mode is WriteMode.UPSERT and self.delete_condition is None

    def shaped(self, rows: DataFrame, mode: WriteMode) -> DataFrame:
        """The rows with their keys as the table will have them: Delta keeps an empty partition value as null."""
        if mode is not WriteMode.UPSERT:
            return rows
        table = self.target()
        partitions = table.partition_columns if table else self.partition_by or ()
        keys = {name.lower() for name in self.merge_keys or ()} & {name.lower() for name in partitions}
        emptied = {name for name, kind in rows.dtypes if kind == "string" and name.lower() in keys}
        if not emptied:
            return rows
        return rows.selectExpr(*(_nothing(name) if name in emptied else quoted(name) for name in rows.columns))

    def scratch(self, own: str) -> str:
        """Inside the table's folder, where no vacuum looks; beside it while there is no table."""
        if self.log.latest() is None:
            return beside(self.path, f".{{}}.{own}.staging")
        return f"{self.path.rstrip('/')}/_deltaworks/staging-{own}"

    def aside(self) -> DeltaSink:
        """The table of the same name with `_aside` after it."""
        # The name stands beside the path that is known: nobody has to look it up.
        named = {"table": f"{self.table}_aside"} if self.table else {}
        return aside_at(beside(self.path, "{}_aside"), self.access).model_copy(update=named)

    def plan(self, rows: DataFrame, mode: WriteMode, findings: Findings | None = None) -> WritePlan:
        """Say what one commit would do to the table."""
        from deltaworks.spark.sinks.delta_load import planned

        return planned(self, rows, mode, findings)

    def write(self, batch: Batch, mode: WriteMode, commit: Commit) -> LoadResult:
        """Commit the rows once, however many tries that takes, and read back what landed."""
        from deltaworks.spark.sinks.delta_load import DeltaLoad

        return DeltaLoad(sink=self, mode=mode).run(batch, commit)


def aside_at(path: str, access: Access | None = None) -> DeltaSink:
    """The table at a path for rows that are set aside; those of batches have one column more than others."""
    found = DeltaSink.model_validate({"sinkType": "DeltaLake", "connectionParams": {"path": path, "mergeSchema": True}})
    return found if access is None else found.reached_by(access)


def _nothing(name: str) -> str:
    return f"nullif({quoted(name)}, '') AS {quoted(name)}"
