from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.house.tree import named, tracked

if TYPE_CHECKING:
    from pathlib import Path

# Spelled so that this file does not break its own rules.
MACHINE = re.compile(r"(?<![\w.:)}-])/(?:(?:work|root)/|home/\w)")
REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.org|maven\.org|maven\.apache\.org|//(?:registry|repo|nexus|index)[\w-]*\."
)
UNFINISHED = re.compile(r"\b(?:TO|FIX)(?:DO|ME)\b")


def offences(rule: re.Pattern[str], paths: list[Path]) -> list[str]:
    return [
        f"{named(path)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if rule.search(line)
    ]


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    assert offences(MACHINE, tracked()) == []


def test_no_file_names_the_address_of_a_package_registry() -> None:
    assert offences(REGISTRY, tracked()) == []


def test_nothing_is_left_unfinished() -> None:
    assert offences(UNFINISHED, tracked()) == []


@pytest.mark.parametrize(
    ("rule", "text", "breaks"),
    [
        (MACHINE, "open('/" + "home/ana/orders')", True),
        (MACHINE, "cd /" + "root/x", True),
        (MACHINE, "s3://bucket/" + "work/orders", False),
        (MACHINE, "file://{tmp}/" + "work/orders", False),
        (REGISTRY, "https://" + "pypi." + "org/simple", True),
        (REGISTRY, "https://" + "repo1.maven." + "org/maven2", True),
        (UNFINISHED, "# FIX" + "ME: later", True),
        (UNFINISHED, "a to-do list", False),
    ],
)
def test_the_rules_tell_right_from_wrong(rule: re.Pattern[str], text: str, breaks: bool) -> None:
    assert bool(rule.search(text)) is breaks
