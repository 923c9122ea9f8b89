"""What sources and sinks have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from deltaworks.lake.model import Step

if TYPE_CHECKING:
    from collections.abc import Mapping


class Connector(Step):
    """One end of a pipeline."""

    credential_id: str | None = None
    """The credential to use, by its name in the vault."""
    options: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Options handed to Spark as they are."""

    @property
    def jar_groups(self) -> frozenset[str]:
        """The groups of jars it needs beyond those of Delta."""
        return frozenset()

    def spark_options(self) -> dict[str, str]:
        """The options as Spark spells them."""
        return {key: spelled(value) for key, value in self.options.items()}

    def option(self, name: str) -> str | None:
        """One option as Spark finds it, which ignores case; none where it is not given."""
        found = {key.lower(): value for key, value in self.spark_options().items()}
        return found.get(name.lower())


def unless_said(defaults: Mapping[str, str], said: Mapping[str, str]) -> dict[str, str]:
    """Options with what counts where nothing is said; case does not count."""
    names = {name.lower() for name in said}
    return {name: value for name, value in defaults.items() if name.lower() not in names} | dict(said)


def spelled(value: object) -> str:
    """A value as Spark spells it in options and conf."""
    return str(value).lower() if isinstance(value, bool) else str(value)
