"""Jars through the real Ivy: from a mirror on loopback, without a network, with a mirror that lies."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from deltaworks.errors import SetupError
from deltaworks.spark.home import pyspark_home
from deltaworks.spark.jars import JarProgress, JarStore, ManagedJar, sha256
from deltaworks.spark.java import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETTINGS = """
<ivysettings>
  <settings defaultResolver="mirror"/>
  <resolvers><ibiblio name="mirror" m2compatible="true" usepoms="false" root="{root}"/></resolvers>
</ivysettings>
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[str]:
    """A repository on loopback that holds one jar, `org.tool:tool:1.0`."""
    folder = tmp_path / "mirror/org/tool/tool/1.0"
    folder.mkdir(parents=True)
    (folder / "tool-1.0.jar").write_bytes(b"classes")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "mirror")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture
def jar(tmp_path: Path) -> ManagedJar:
    content = tmp_path / "content"
    content.write_bytes(b"classes")
    return ManagedJar(group="org.tool", artifact="tool", version="1.0", sha256=sha256(content))


def store(folder: Path, root: str) -> JarStore:
    settings = folder / "ivysettings.xml"
    settings.write_text(SETTINGS.format(root=root))
    return JarStore(folder=folder / "jars", java=find_java(), spark_home=pyspark_home(), ivy_settings=settings)


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "jars").iterdir() if path.name != ".lock")


def test_a_missing_jar_comes_from_the_mirror_and_leaves_nothing_else(
    tmp_path: Path, mirror: str, jar: ManagedJar
) -> None:
    heard: list[JarProgress] = []
    files = store(tmp_path, mirror).ensure((jar,), heard.append)

    assert [file.read_bytes() for file in files] == [b"classes"]
    assert heard[-1] == JarProgress(done=1, total=1, name="tool-1.0")
    assert kept(tmp_path) == ["tool-1.0.jar", "verified.json"]


def test_after_the_first_time_no_network_is_needed(tmp_path: Path, mirror: str, jar: ManagedJar) -> None:
    store(tmp_path, mirror).ensure((jar,))
    shutil.rmtree(tmp_path / "mirror")

    assert store(tmp_path, mirror).ensure((jar,))


def test_two_at_once_both_get_the_jar(tmp_path: Path, mirror: str, jar: ManagedJar) -> None:
    both = store(tmp_path, mirror)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: both.ensure((jar,)), range(2))

    assert first == second
    assert kept(tmp_path) == ["tool-1.0.jar", "verified.json"]


def test_without_a_network_one_error_says_what_to_do(tmp_path: Path, jar: ManagedJar) -> None:
    with pytest.raises(SetupError, match="Connection refused") as failed:
        store(tmp_path, "http://127.0.0.1:9/").ensure((jar,))

    assert failed.value.exit_code == 3
    for way in ("Connect this machine once", "DELTAWORKS_IVY_SETTINGS", "copy Deltaworks' cache folder"):
        assert way in failed.value.hint
    assert kept(tmp_path) == []


def test_a_mirror_that_sends_another_file_is_found_out(tmp_path: Path, mirror: str, jar: ManagedJar) -> None:
    (tmp_path / "mirror/org/tool/tool/1.0/tool-1.0.jar").write_bytes(b"trojans")

    with pytest.raises(SetupError, match="sent a wrong tool-1"):
        store(tmp_path, mirror).ensure((jar,))
    assert kept(tmp_path) == []


def test_a_damaged_jar_is_fetched_again_once_it_was_deleted(tmp_path: Path, mirror: str, jar: ManagedJar) -> None:
    (file,) = store(tmp_path, mirror).ensure((jar,))
    file.write_bytes(b"damaged")

    with pytest.raises(SetupError, match="is damaged"):
        store(tmp_path, mirror).ensure((jar,))
    file.unlink()
    assert store(tmp_path, mirror).ensure((jar,)) == (file,)
    assert file.read_bytes() == b"classes"
