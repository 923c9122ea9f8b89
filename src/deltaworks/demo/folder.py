"""The folder a demo lives in: the shipped pipelines, and data for them."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from deltaworks.demo.orders import ORDERS, make_changes, make_orders, save
from deltaworks.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

PIPELINES = Path(__file__).with_name("pipelines")
ORDERS_FILE, CHANGES_FILE = "data/orders.csv", "data/changes.csv"


def copy_pipelines(folder: Path) -> list[Path]:
    """Copy the shipped files, leaving those that are there already; return the pipelines in their order."""
    with _writable(folder):
        (folder / "data").mkdir(parents=True, exist_ok=True)
        for shipped in PIPELINES.glob("*.yaml"):
            if not (folder / shipped.name).exists():
                _copy(shipped, folder / shipped.name)
    return [folder / shipped.name for shipped in sorted(PIPELINES.glob("[0-9]*.yaml"))]


def has_data(folder: Path) -> bool:
    """Whether there is nothing left to make."""
    return all((folder / name).exists() for name in (ORDERS_FILE, CHANGES_FILE))


def make_data(folder: Path, rows: int = ORDERS) -> None:
    """Write the orders and the changes to them, leaving what is there already."""
    orders = make_orders(rows)
    with _writable(folder):
        if not (folder / ORDERS_FILE).exists():
            save(orders, folder / ORDERS_FILE)
        if not (folder / CHANGES_FILE).exists():
            save(make_changes(orders), folder / CHANGES_FILE)


def purpose(file: Path) -> str:
    """What a pipeline shows, as the first line of its file says."""
    with file.open(encoding="utf-8") as lines:
        first = next(lines, "")
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def _copy(shipped: Path, to: Path) -> None:
    # By way of a draft: half a file would later be taken for the reader's own.
    draft = to.with_name(f".{to.name}.tmp")
    draft.write_bytes(shipped.read_bytes())
    draft.replace(to)


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SetupError(
            f"{folder} cannot be written: {error.strerror}.",
            hint="Choose another folder: deltaworks demo --dir DIR.",
        ) from error
