"""Named steps that a test can turn into a kill, an error, a pause or a stop.

`DELTAWORKS_FAILPOINTS="before_commit=kill,after_commit=sleep:2"` arms them. Off, a step costs one look-up.
"""

from __future__ import annotations

import os
import signal
import time

from deltaworks.errors import RunError


def reach(name: str) -> None:
    """Do what the environment asks of the step `name`; usually nothing."""
    armed = os.environ.get("DELTAWORKS_FAILPOINTS")
    if armed:
        _act(name, dict(step.split("=", 1) for step in armed.split(",")).get(name, ""))


def _act(name: str, action: str) -> None:
    match action.split(":", 1):
        case ["kill"]:
            os.kill(os.getpid(), signal.SIGKILL)
        case ["stop"]:  # until somebody sends SIGCONT
            os.kill(os.getpid(), signal.SIGSTOP)
        case ["raise"]:
            raise RunError(f"The failpoint {name!r} was reached.", hint="Unset DELTAWORKS_FAILPOINTS.")
        case ["sleep", seconds]:
            time.sleep(float(seconds))
