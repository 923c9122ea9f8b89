"""Functions of the user's own, found by name."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from contextlib import contextmanager
from functools import reduce
from importlib.machinery import PathFinder
from threading import RLock
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from pathlib import Path
    from types import ModuleType

_LOCK = RLock()  # what is imported is known to the whole process


@contextmanager
def imported(name: str, folder: Path) -> Iterator[Callable[..., Any]]:
    """The function `module:function`, from modules of the folder first, then from the installed packages.

    Modules of the folder are forgotten before the function is called: another folder may have a module of that name,
    and Spark sends the code of a function to its executors only if its module cannot be imported.
    """
    module, _, path = name.partition(":") if ":" in name else name.rpartition(".")
    with _LOCK, _modules_of(folder) as own:
        found = _attribute(_module(module, folder), path, name)
        own.forget()
        yield found


def _module(name: str, folder: Path) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            hint = f"Install it, or put it into {folder}."
            raise ConfigError(f"{name} imports {error.name!r}, which is not there.", hint=hint) from error
        hint = f"Put {name.partition('.')[0]}.py into {folder}, or install the package that holds it."
        raise ConfigError(f"There is no module {error.name!r}.", hint=hint) from error
    except Exception as error:
        raise ConfigError(f"{name} cannot be imported: {type(error).__name__}: {error}", hint="Mend it.") from error


def _attribute(module: ModuleType, path: str, name: str) -> Callable[..., Any]:
    try:
        found: Any = reduce(getattr, path.split("."), module)
    except AttributeError as error:
        known = [each for each, value in vars(module).items() if callable(value) and not each.startswith("_")]
        raise ConfigError(f"{module.__name__} has no {path!r}.", hint=did_you_mean(path, known)) from error
    if not callable(found):
        hint = "Name a function that takes rows and gives rows."
        raise ConfigError(f"{name} is a {type(found).__name__}, not a function.", hint=hint)
    return found  # type: ignore[no-any-return]


class _Folder:
    """Finds modules in a folder, and knows which it found."""

    def __init__(self, folder: Path) -> None:
        self._path = [str(folder)]
        self._found: set[str] = set()

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where a module is; those below a package are found by Python itself."""
        spec = PathFinder.find_spec(name, self._path) if path is None else None
        # A bare folder may just hold data: any installed package goes before it.
        if spec is None or (spec.loader is None and PathFinder.find_spec(name) is not None):
            return None
        self._found.add(name)
        return spec

    def forget(self) -> None:
        """Take what was found out of the modules Python knows."""
        _take(self._found)

    def elsewhere(self) -> set[str]:
        """The folder's names under which Python knows modules of another place."""
        names = {each.name for each in pkgutil.iter_modules(self._path)} - sys.stdlib_module_names - {"__main__"}
        return {name for name in names if name in sys.modules and not self._is_own(name)}

    def _is_own(self, name: str) -> bool:
        spec = PathFinder.find_spec(name, self._path)
        return spec is not None and spec.origin == getattr(sys.modules[name], "__file__", None)


@contextmanager
def _modules_of(folder: Path) -> Iterator[_Folder]:
    importlib.invalidate_caches()
    own = _Folder(folder)
    hidden = _take(own.elsewhere())
    sys.meta_path.insert(0, own)
    try:
        yield own
    finally:
        sys.meta_path.remove(own)
        own.forget()
        sys.modules.update(hidden)


def _take(names: set[str]) -> dict[str, ModuleType]:
    taken = [name for name in sys.modules if name.partition(".")[0] in names]
    return {name: sys.modules.pop(name) for name in taken}
