"""What a run that follows does while a server is away: no Spark, and a source that answers as a test says."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.pipeline.files import config, pipeline

from deltaworks.errors import AwayError, DeltaworksError, RefusedError, SetupError
from deltaworks.lake.storage import UnreachableError
from deltaworks.pipeline.following import UNKNOWN, Following, Pace, Work
from deltaworks.spark.sources.incremental import Continues
from deltaworks.spark.streaming import Stopping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.runs.result import Standing
    from deltaworks.spark.sinks import Sink
    from deltaworks.spark.sources.base import Source
    from deltaworks.spark.sources.incremental import Delivered, Request

PAUSES = [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0, 60.0, 60.0]


class Pauses(Stopping):
    """Notes how long it should have waited, and comes to the wish to end by itself."""

    def __init__(self, wish_after: int | None = None) -> None:
        super().__init__()
        self.seconds: list[float] = []
        self._wish_after = wish_after

    def wait(self, seconds: float) -> None:
        if not self.wished:
            self.seconds.append(seconds)
        if len(self.seconds) == self._wish_after:
            self.wish()


class Answering(Continues):
    """A source with nothing new; each question about it is one call."""

    incremental = True

    def __init__(self, ask: Callable[[], None], found: Callable[[], None]) -> None:
        self._ask, self._found = ask, found

    def toward(self, sink: Sink) -> Answering:
        return self

    def identity(self) -> str:
        self._ask()
        return "answering"

    def beginning(self) -> Any:
        return 0

    def require_there(self, position: Any) -> None:
        raise AssertionError("there is no position")

    def end(self) -> Any:
        self._ask()
        return 7

    def told(self, position: Any) -> str:
        return f"row {position}"

    @contextmanager
    def following(self, spark: Any, request: Request) -> Iterator[Delivered | None]:
        self._ask()
        self._found()
        yield None

    def between(self, start: str, end: str) -> Source:
        raise AssertionError("there is no range")


class Server:
    """Answers some questions, usually the one with which a run begins, and is away for so many behind them."""

    def __init__(self, away: int, error: Callable[[int], DeltaworksError], answers: int = 1) -> None:
        self._away, self._error, self._answers, self.asked = away, error, answers, 0

    def ask(self) -> None:
        self.asked += 1
        if 0 < self.asked - self._answers <= self._away:
            raise self._error(self.asked - self._answers)


def away(number: int) -> DeltaworksError:
    return SetupError(f"away for the {number}. time.", hint="Wait.")


class Followed:
    """A run that follows a source into a table that is not there yet."""

    def __init__(self, folder: Path, stopping: Pauses, server: Server) -> None:
        self.stopping, self.waited = stopping, list[str]()
        self.config = _config(folder).model_copy(update={"extract": Answering(server.ask, stopping.wish)})

    def run(self, session: Callable[[], Any] = lambda: None) -> Standing:
        work = Work(
            run_id="run-1",
            session=session,
            begun=lambda _: None,
            write=lambda *_: pytest.fail("there was nothing to write"),
            landed=lambda _: None,
            waiting=lambda error: self.waited.append(str(error)),
        )
        return Following(self.config, Pace(follow=True, stopping=self.stopping), work).run()[1]


def _config(folder: Path) -> PipelineConfig:
    return config(pipeline(load__connectionParams__path=str(folder / "out")))


def test_a_server_that_is_away_is_waited_for_with_growing_pauses_also_when_the_target_is_asked_again(
    tmp_path: Path,
) -> None:
    followed = Followed(tmp_path, Pauses(), Server(3, away))

    standing = followed.run()

    assert followed.stopping.seconds == PAUSES[:3]
    assert followed.waited == [f"extract: away for the {number}. time." for number in (1, 2, 3)]
    assert (standing.position, standing.end) == ("row 0", "row 7")


def test_a_server_that_stays_away_is_given_up_after_ten_pauses_with_its_last_error(tmp_path: Path) -> None:
    followed = Followed(tmp_path, Pauses(), Server(99, away))

    with pytest.raises(SetupError, match=r"^extract: away for the 11. time\.$"):
        followed.run()

    assert followed.stopping.seconds == PAUSES


def test_a_server_that_is_away_when_the_run_begins_is_told_at_once(tmp_path: Path) -> None:
    followed = Followed(tmp_path, Pauses(), Server(99, away, answers=0))

    with pytest.raises(SetupError, match="away for the 1"):
        followed.run()

    assert followed.stopping.seconds == []


def test_what_the_machine_lacks_is_told_at_once(tmp_path: Path) -> None:
    def no_java() -> Any:
        raise SetupError("There is no Java.", hint="Install it.")

    followed = Followed(tmp_path, Pauses(), Server(0, away))

    with pytest.raises(SetupError, match="There is no Java"):
        followed.run(no_java)

    assert followed.stopping.seconds == []


def test_what_no_waiting_mends_is_told_while_it_waits(tmp_path: Path) -> None:
    def refused(number: int) -> DeltaworksError:
        return away(number) if number < 2 else RefusedError("it was made anew.", hint="Begin anew.")

    followed = Followed(tmp_path, Pauses(), Server(99, refused))

    with pytest.raises(RefusedError, match="made anew"):
        followed.run()

    assert followed.stopping.seconds == PAUSES[:1]


@pytest.mark.parametrize("pauses", [1, 2, 10])
def test_a_run_that_should_end_while_it_waits_ends_well_and_says_that_the_end_is_not_known(
    tmp_path: Path, pauses: int
) -> None:
    server = Server(99, away)
    followed = Followed(tmp_path, Pauses(wish_after=pauses), server)

    standing = followed.run()

    assert server.asked == 1 + pauses, "it is not asked once more"
    assert followed.stopping.seconds == PAUSES[:pauses]
    assert (standing.position, standing.end) == ("row 0", UNKNOWN)


def test_a_source_that_is_away_by_the_end_of_a_run_does_not_make_it_fail(tmp_path: Path) -> None:
    standing = Followed(tmp_path, Pauses(), Server(99, away, answers=2)).run()

    assert (standing.position, standing.end) == ("row 0", UNKNOWN)


def test_a_run_that_should_end_while_a_server_is_asked_again_ends_well(tmp_path: Path) -> None:
    stopping = Pauses()

    def wished(number: int) -> DeltaworksError:
        if number == 3:
            stopping.wish()
        return AwayError("gone.", hint="Wait.")

    Followed(tmp_path, stopping, Server(99, wished)).run()

    assert stopping.seconds == PAUSES[:2]


def test_a_target_that_is_away_when_the_run_begins_is_told_as_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object) -> None:
        raise UnreachableError("s3://out", "timed out")

    followed = Followed(tmp_path, Pauses(), Server(0, away))
    monkeypatch.setattr(type(followed.config.load), "reached", unreachable)

    with pytest.raises(UnreachableError, match=r"^load: s3://out cannot be reached"):
        followed.run()


def test_a_target_that_is_away_while_the_columns_are_asked_for_is_told_as_the_target(tmp_path: Path) -> None:
    followed = Followed(tmp_path, Pauses(wish_after=1), Server(0, away))

    def unreachable(_: Sink) -> Answering:
        raise UnreachableError("s3://out", "timed out")

    followed.config.extract.toward = unreachable  # type: ignore[method-assign,assignment]

    followed.run()

    assert followed.waited[0].startswith("load: s3://out cannot be reached")
