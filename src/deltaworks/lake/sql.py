"""The one place where names and values become SQL text."""

from __future__ import annotations

import re


def quoted(name: str) -> str:
    """Spell a column or table name so that SQL takes it as one name, whatever it contains."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """Spell a text value as a SQL string."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def same_each_time(*expressions: str) -> bool:
    """Whether expressions over one row give the same value each time, as far as their text can tell."""
    return not any(_CHANGING.search(expression) for expression in expressions)


_CHANGING = re.compile(
    r"(?i)\b(rand|randn|random|randstr|uniform|uuid|shuffle|monotonically_increasing_id|spark_partition_id"
    r"|input_file_\w+|current_\w+|now|localtimestamp|curdate|unix_timestamp|to_unix_timestamp|session_user|user"
    r"|first|first_value|last|last_value|any_value|collect_\w+|array_agg|over|java_method|reflect|try_reflect)\b"
)
