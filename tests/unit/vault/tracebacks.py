"""All that a person or a program could read in an error."""

from __future__ import annotations

import traceback


def readable(error: BaseException) -> str:
    """An error, what led to it, and what all of them remember."""
    texts = traceback.format_exception(error)
    found: BaseException | None = error
    while found is not None:
        texts += [repr(found), str(found), repr(found.__dict__)]
        found = found.__cause__ or found.__context__
    return "\n".join(texts)
