from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from deltaworks.errors import ConfigError
from deltaworks.spark.callables import imported

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, **modules: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_modules_of_one_name_in_two_folders_are_two_modules(tmp_path: Path) -> None:
    text = "from helper_twin import NAME\n\ndef run():\n    return NAME\n"
    for name in ("one", "two"):
        write(tmp_path / name, steps_twin=text, helper_twin=f"NAME = '{name}'\n")

    with imported("steps_twin:run", tmp_path / "one") as first, imported("steps_twin:run", tmp_path / "two") as second:
        assert (first(), second()) == ("one", "two")
    assert not {"steps_twin", "helper_twin"} & set(sys.modules)


def test_a_module_loaded_from_elsewhere_gives_way_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = ModuleType("steps_known")
    monkeypatch.setitem(sys.modules, "steps_known", elsewhere)
    write(tmp_path, steps_known="def run():\n    return 'ours'\n")

    with imported("steps_known:run", tmp_path) as run:
        assert run() == "ours"
    assert sys.modules["steps_known"] is elsewhere


def test_a_module_loaded_from_this_very_file_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, steps_same="def run():\n    return 'from the file'\n")
    loaded = ModuleType("steps_same")
    loaded.__file__ = str(tmp_path / "steps_same.py")
    loaded.run = lambda: "loaded"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "steps_same", loaded)

    with imported("steps_same:run", tmp_path) as run:
        assert run() == "loaded"


def test_a_function_may_import_when_it_is_called(tmp_path: Path) -> None:
    text = "def run():\n    from helper_late import NAME\n    return NAME\n"
    write(tmp_path, steps_late=text, helper_late="NAME = 'late'\n")

    with imported("steps_late.run", tmp_path) as run:
        assert run() == "late"
    assert "helper_late" not in sys.modules


@pytest.mark.parametrize("marked", [True, False])
def test_a_function_may_be_in_a_package_of_the_folder(tmp_path: Path, marked: bool) -> None:
    write(tmp_path / "steps_pack", inner="class Steps:\n    run = staticmethod(lambda: 'inner')\n")
    if marked:
        write(tmp_path / "steps_pack", __init__="")

    with imported("steps_pack.inner:Steps.run", tmp_path) as run:
        assert run() == "inner"
    assert not any(name.startswith("steps_pack") for name in sys.modules)


def test_a_folder_of_data_hides_no_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "yaml").mkdir()
    for name in [name for name in sys.modules if name.partition(".")[0] == "yaml"]:
        monkeypatch.delitem(sys.modules, name)

    with imported("yaml:safe_load", tmp_path) as load:
        assert load("[1]") == [1]


@pytest.mark.parametrize(
    ("text", "name", "said", "hint"),
    [
        ("", "steps_nope:run", "There is no module 'steps_nope'", "Put steps_nope.py into"),
        ("", "steps_wrong.more:run", "There is no module 'steps_wrong.more'", "Put steps_wrong.py into"),
        ("import nothing_such\n", "steps_wrong:run", "imports 'nothing_such', which is not there", "Install it"),
        ("def (", "steps_wrong:run", "steps_wrong cannot be imported: SyntaxError", "Mend it"),
        ("def runs(): pass", "steps_wrong:run", "steps_wrong has no 'run'", "Did you mean 'runs'?"),
        ("run = 5", "steps_wrong:run", "steps_wrong:run is a int, not a function", "Name a function"),
    ],
)
def test_what_cannot_be_found_is_said(tmp_path: Path, text: str, name: str, said: str, hint: str) -> None:
    write(tmp_path, steps_wrong=text)

    with pytest.raises(ConfigError, match=said) as caught, imported(name, tmp_path):
        pass

    assert hint in caught.value.hint
