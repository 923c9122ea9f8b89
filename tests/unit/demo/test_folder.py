from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deltaworks.demo.folder import copy_pipelines, has_data, make_data, purpose
from deltaworks.errors import SetupError
from deltaworks.pipeline.config import config_of
from deltaworks.pipeline.document import read_document
from deltaworks.pipeline.order import ordered

if TYPE_CHECKING:
    from pathlib import Path


def test_the_pipelines_come_in_the_order_they_need(tmp_path: Path) -> None:
    files = copy_pipelines(tmp_path / "new" / "demo")
    configs = [config_of(read_document(file), {}) for file in files]

    assert [file.name for file in files] == ["1-orders.yaml", "2-changes.yaml", "3-report.yaml", "4-feed.yaml"]
    assert ordered(configs)[0] == 0
    assert all(str(tmp_path) in config.load.place for config in configs)
    assert (tmp_path / "new/demo/deltaworks.yaml").is_file()


def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    mine = copy_pipelines(tmp_path)[0]
    mine.write_text("mine")
    (tmp_path / "data/changes.csv").write_text("mine too")

    copy_pipelines(tmp_path)
    make_data(tmp_path, rows=10)

    assert mine.read_text() == "mine"
    assert (tmp_path / "data/changes.csv").read_text() == "mine too"
    assert len((tmp_path / "data/orders.csv").read_text().splitlines()) == 11


def test_data_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    copy_pipelines(tmp_path)
    make_data(tmp_path, rows=10)

    make_data(tmp_path, rows=20)

    assert has_data(tmp_path)
    assert len((tmp_path / "data/orders.csv").read_text().splitlines()) == 11


def test_a_lost_change_file_is_made_again(tmp_path: Path) -> None:
    copy_pipelines(tmp_path)
    make_data(tmp_path, rows=10)
    changes = tmp_path / "data/changes.csv"
    before = changes.read_bytes()
    changes.unlink()

    assert not has_data(tmp_path)
    make_data(tmp_path, rows=10)

    assert changes.read_bytes() == before


def test_every_pipeline_says_what_it_shows(tmp_path: Path) -> None:
    assert all(purpose(file).endswith(".") for file in copy_pipelines(tmp_path))


@pytest.mark.parametrize("text", ["", "pipelineId: mine\n"])
def test_a_file_without_a_word_about_itself_is_fine(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text)

    assert purpose(file) == ""


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(SetupError, match="file/demo cannot be written: Not a directory") as caught:
        copy_pipelines(tmp_path / "file" / "demo")

    assert "--dir" in caught.value.hint
