"""What sources and sinks have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, PrivateAttr

from deltaworks.lake.model import NoSecrets, Step
from deltaworks.lake.storage import one_spelling
from deltaworks.vault.storage import Access, is_storage_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaworks.spark.surroundings import Surroundings


class Connector(Step, ABC):
    """One end of a pipeline."""

    credential_id: str | None = None
    """The credential to use, by its name in the vault."""
    options: Annotated[dict[str, str | int | float | bool], NoSecrets] = Field(default_factory=dict)
    """Options handed to Spark as they are; those of the storage, `fs.s3a.…` or `AWS_…`, count for delta-rs too."""

    _access: Access = PrivateAttr(default_factory=Access)

    @property
    @abstractmethod
    def place(self) -> str:
        """The path or name it reads or writes, by which pipelines are put in order."""

    @property
    def jar_groups(self) -> frozenset[str]:
        """The groups of jars that Spark needs for it, beside Delta's."""
        return frozenset({"s3"}) if one_spelling(self.place).startswith("s3a://") else frozenset()

    @property
    def needs_catalog(self) -> bool:
        """Whether it names a table of the session's catalog."""
        return False

    @property
    def access(self) -> Access:
        """The way to its storage, once it is located."""
        return self._access

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about the way there."""
        return self.access.notes

    def located(self, around: Surroundings) -> Self:
        """This end with the way to its storage known."""
        return self.reached_by(around.access_to(self.place, self.credential_id, self.storage_options()))

    def reached_by(self, access: Access) -> Self:
        """This end with this way to its storage."""
        found = self.model_copy()
        found._access = access
        return found

    def spark_options(self) -> dict[str, str]:
        """The options of the rows as Spark spells them."""
        return {key: spelled(value) for key, value in self.options.items() if not is_storage_option(key)}

    def storage_options(self) -> dict[str, str]:
        """The options of the storage."""
        return {key: spelled(value) for key, value in self.options.items() if is_storage_option(key)}

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
