"""Asking for what nobody may see."""

from __future__ import annotations

import getpass
import sys
import warnings

from deltaworks.errors import ConfigError, SetupError


def typed(question: str) -> str:
    """What somebody types at a terminal, without showing it."""
    with warnings.catch_warnings():
        # It would go on and show what is typed.
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(question)
        except (getpass.GetPassWarning, EOFError):
            pass
    raise SetupError(
        f"Nobody can answer here: {question.strip(' :')}.",
        hint="Run it on a terminal, or use --stdin for values and DELTAWORKS_VAULT_PASSPHRASE for a passphrase.",
    )


def typed_twice(question: str) -> str:
    """What somebody types twice alike."""
    first = typed(f"{question}: ")
    if typed(f"{question}, once more: ") != first:
        raise ConfigError("The two are not the same.", hint="Try again; nothing was changed.")
    return first


def read_stdin() -> str:
    """All that is piped in, without the line end that closes it."""
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise ConfigError("What was piped in is not UTF-8.", hint="Convert it first.") from None
    return text.removesuffix("\n").removesuffix("\r")
