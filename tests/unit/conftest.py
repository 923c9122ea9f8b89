"""What all unit tests share."""

from __future__ import annotations

from hypothesis import settings

# The same examples every time: a test that fails here fails everywhere.
settings.register_profile("house", derandomize=True, deadline=None, database=None)
settings.load_profile("house")
