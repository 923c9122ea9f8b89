from __future__ import annotations

import os
import signal

import pytest

from deltaworks.cli import stopping
from deltaworks.cli.stopping import stoppable
from deltaworks.pipeline.following import Pace


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_is_a_wish_and_is_said(number: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    pace = Pace(follow=True)
    with stoppable(pace):
        os.kill(os.getpid(), number)

        assert pace.stopping.wished
    assert capsys.readouterr().err == "Stopping after this batch; once more to stop at once.\n"


def test_the_second_signal_ends_it_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "SAME", -1.0)
    with stoppable(Pace(follow=True)):
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)


def test_one_signal_that_comes_twice_is_one_wish(capsys: pytest.CaptureFixture[str]) -> None:
    pace = Pace(follow=True)
    with stoppable(pace):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    assert pace.stopping.wished
    assert capsys.readouterr().err.count("Stopping") == 1


@pytest.mark.parametrize("follow", [True, False])
def test_afterwards_signals_mean_what_they_meant_before(follow: bool) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]

    with stoppable(Pace(follow=follow)):
        inside = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]

    assert (inside != before) is follow
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
