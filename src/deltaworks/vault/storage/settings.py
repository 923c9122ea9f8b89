"""Settings in everybody's spelling, brought under one name each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deltaworks.vault.credential import Credential
    from deltaworks.vault.storage.base import Sources

FILE = "the file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One setting, and who said it."""

    value: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The settings of one kind of storage by our name, with the other spellings of each."""

    prefixes: tuple[str, ...]  # of delta-rs's names and of environment variables, the longest first
    names: Mapping[str, frozenset[str]]
    secret: frozenset[str]
    identity: frozenset[str] = frozenset()  # who the secrets belong to; without meaning where there are none

    def ours(self, name: str) -> str | None:
        """Our name for a setting; none where we have none."""
        prefix = next((each for each in self.prefixes if name.lower().startswith(each)), "")
        bare = plain(name[len(prefix) :])
        return next((own for own, other in self.names.items() if bare == plain(own) or bare in other), None)

    def among(self, given: Mapping[str, str], by: str) -> dict[str, Said]:
        """The settings we have names for."""
        named = ((self.ours(name), value) for name, value in given.items())
        return {name: Said(value=value, by=by) for name, value in named if name}

    def prefixed(self, given: Mapping[str, str]) -> dict[str, str]:
        """The settings that name this kind of storage."""
        return {name: value for name, value in given.items() if name.lower().startswith(self.prefixes)}

    def beyond(self, given: Mapping[str, str]) -> dict[str, str]:
        """The settings we have no names for."""
        return {name: value for name, value in given.items() if self.ours(name) is None}

    def of_credential(self, credential: Credential | None) -> dict[str, Said]:
        """A credential's values; a name that means nothing here is a slip."""
        if credential is None:
            return {}
        values = {name: value.get_secret_value() for name, value in credential.values.items()}
        for name in self.beyond(values):
            raise ConfigError(
                f"Credential {credential.credential_id!r} has {name!r}, which means nothing for this storage.",
                hint=did_you_mean(name, self.names),
            )
        return self.among(values, f"credential {credential.credential_id!r}")

    def settled(
        self,
        sources: Sources,
        *,
        options: Mapping[str, str] | None = None,
        conf: Mapping[str, str] | None = None,
        last: Mapping[str, str] | None = None,
    ) -> Settings:
        """One answer for each setting; Hadoop's options and conf, and what counts last, come without their prefix."""
        found = self.first(
            [
                self.among(sources.given, "storage_options"),
                self.of_credential(sources.credential),
                self.among({**(options or {}), **self.prefixed(sources.options)}, FILE),
                self.among(conf or {}, "Spark's configuration"),
                self.among(self.prefixed(sources.environment), "the environment"),
                self.among(last or {}, "the profile"),
            ]
        )
        return found.without(self.secret | self.identity) if found.get("type") == "role" else found

    def first(self, levels: Iterable[Mapping[str, Said]]) -> Settings:
        """The first answer to each. The secrets all come from one level: keys do not mix."""
        found: dict[str, Said] = {}
        notes: list[str] = []
        for level in levels:
            guarded = bool(self.secret & found.keys())
            for name, said in level.items():
                if name in found or (guarded and name in self.secret):
                    notes += self._overruled(name, found.get(name), said)
                else:
                    found[name] = said
        return Settings(found=found, notes=tuple(notes))

    def _overruled(self, name: str, winner: Said | None, said: Said) -> list[str]:
        if winner is None or said.by != FILE or winner.value == said.value or name in self.secret:
            return []
        return [f"{name} is {winner.value}, as {winner.by} says; the file says {said.value}"]


def plain(name: str) -> str:
    """A name without its signs, by which all spellings are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was found about one place, under our names."""

    found: Mapping[str, Said] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def get(self, name: str) -> str | None:
        """A setting; none when nobody said it."""
        said = self.found.get(name)
        return said.value if said and said.value else None

    def flag(self, name: str, default: bool) -> bool:
        """A setting that is true or false."""
        text = (self.get(name) or str(default)).strip().lower()
        if text not in _FLAGS:
            raise ConfigError(f"{name} is {text!r}, neither true nor false.", hint="Write true or false.")
        return _FLAGS[text]

    def require_whole(self, *names: str) -> None:
        """Refuse some of these without the others."""
        there = [name for name in names if self.get(name)]
        missing = [name for name in names if name not in there]
        if there and missing:
            by = self.found[there[0]].by
            raise ConfigError(
                f"{by} has {there[0]} but no {missing[0]}.", hint=f"Add {missing[0]}, or leave out {there[0]}."
            )

    def without(self, names: Iterable[str]) -> Settings:
        """The others."""
        left = {name: said for name, said in self.found.items() if name not in set(names)}
        return Settings(found=left, notes=self.notes)


_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def below(given: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The settings under a prefix, without it."""
    start = prefix.lower()
    return {name[len(start) :]: value for name, value in given.items() if name.lower().startswith(start)}
