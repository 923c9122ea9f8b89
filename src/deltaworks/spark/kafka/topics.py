"""The names of topics."""

from __future__ import annotations

import re

from deltaworks.lake.model import problem

_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")


def a_topic(text: str) -> str:
    """A topic's name; refuses what Kafka would not take."""
    if not _NAME.fullmatch(text):
        hint = "Use topics for several, or topicPattern for a pattern; a name has letters, digits, dot, _ and -."
        raise problem(f"{text!r} is not the name of a topic", hint)
    return text


def several_topics(names: tuple[str, ...]) -> tuple[str, ...]:
    """Several topics, each once."""
    if not names or len(set(names)) < len(names):
        raise problem(f"{list(names)!r} names no topic, or one twice", "Name each topic once.")
    return names


def a_pattern(text: str) -> str:
    """A regular expression."""
    try:
        re.compile(text)
    except re.error as error:
        raise problem(f"{text!r} is not a pattern: {error}", "Write a regular expression such as orders-.*") from None
    return text
