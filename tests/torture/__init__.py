"""Pipelines that are broken in every way we know, and what is in their tables afterwards."""
