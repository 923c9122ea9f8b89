from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from deltaworks.errors import SetupError
from deltaworks.spark.ivy import SETTINGS, Coordinate, Fetch, JarProgress, fetch, ivy_xml

TOOL = Coordinate(group="org.tool", artifact="tool", version="1.0")
BOX = Coordinate(group="org.box", artifact="box", version="2.0")


def program(folder: Path, script: str) -> Path:
    """A stand-in for `java -jar ivy.jar`, whose last argument is the pattern to retrieve to."""
    path = folder / "java"
    path.write_text(f'#!/bin/bash\nto="${{@: -1}}"; out="${{to%/*}}"; mkdir -p "$out"\n{script}\n')
    path.chmod(0o755)
    return path


def how(folder: Path, script: str) -> Fetch:
    scratch = folder / "scratch"
    scratch.mkdir()
    return Fetch(java=program(folder, script), ivy=Path("ivy.jar"), settings=None, scratch=scratch)


def test_an_ivy_file_asks_for_the_named_jars_and_for_nothing_they_need() -> None:
    rows = ElementTree.fromstring(ivy_xml([TOOL])).findall(".//dependency")

    assert [row.attrib["name"] for row in rows] == ["tool"]
    assert all(row.attrib["transitive"] == "false" for row in rows)


def test_a_classifier_is_asked_for_and_is_in_the_name_of_the_file() -> None:
    whole = Coordinate(group="org.tool", artifact="tool", version="1.0", classifier="whole")
    (row,) = ElementTree.fromstring(ivy_xml([whole])).findall(".//artifact")

    assert whole.file_name == "tool-1.0-whole.jar"
    assert row.attrib["{http://ant.apache.org/ivy/maven}classifier"] == "whole"


def test_the_settings_name_no_host() -> None:
    assert "http" not in SETTINGS
    assert "root" not in SETTINGS


def test_progress_counts_the_jars_as_they_arrive(tmp_path: Path) -> None:
    script = """
echo "	found org.tool#tool;1.0 in central"
echo "	[SUCCESSFUL ] org.tool#tool;1.0!tool.jar (12ms)"; touch "$out/tool-1.0.jar"
echo "	[SUCCESSFUL ] org.box#box;2.0!box.jar (9ms)"; touch "$out/box-2.0.jar"
"""
    heard: list[JarProgress] = []

    fetch((TOOL, BOX), how(tmp_path, script), heard.append)

    assert [(step.done, step.total, step.name) for step in heard] == [
        (0, 2, "tool-1.0"),
        (1, 2, "tool-1.0"),
        (2, 2, "box-2.0"),
    ]


def test_ivy_is_not_believed_when_a_jar_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="could not be fetched"):
        fetch((TOOL,), how(tmp_path, "exit 0"), lambda _: None)


def test_a_failure_gives_ivys_own_reason(tmp_path: Path) -> None:
    script = 'echo "	Server access error at url X (java.net.UnknownHostException: X)"; exit 1'

    with pytest.raises(SetupError, match="UnknownHostException") as failed:
        fetch((TOOL,), how(tmp_path, script), lambda _: None)
    assert "DELTAWORKS_IVY_SETTINGS" in failed.value.hint
