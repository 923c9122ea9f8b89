"""What sources and sinks have in common."""

from __future__ import annotations

from pydantic import Field

from deltaworks.lake.model import Step


class Connector(Step):
    """One end of a pipeline."""

    credential_id: str | None = None
    """The credential to use, by its name in the vault."""
    options: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Options handed to Spark as they are."""

    def spark_options(self) -> dict[str, str]:
        """The options as Spark spells them."""
        return {key: spelled(value) for key, value in self.options.items()}


def spelled(value: object) -> str:
    """A value as Spark spells it in options and conf."""
    return str(value).lower() if isinstance(value, bool) else str(value)
