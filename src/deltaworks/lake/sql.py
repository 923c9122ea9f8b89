"""The one place where names and values become SQL text."""

from __future__ import annotations


def quoted(name: str) -> str:
    """Spell a column or table name so that SQL takes it as one name, whatever it contains."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """Spell a text value as a SQL string."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
