"""A folder in a bucket, through the object store that delta-rs uses too."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from deltaworks.lake.folder import Folder, Stored, everywhere
from deltaworks.lake.storage import AbsentError, Answer, NowhereError, UnreachableError, escaped, patiently, reason
from deltaworks.vault.storage import Access, access_to
from deltaworks.vault.storage.s3 import Keys, S3Access

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from obstore import ListResult, ObjectMeta
    from obstore.store import ClientConfig, ObjectStore, RetryConfig, S3Credential, S3CredentialProvider

LARGEST_COPY = 5 << 30  # what S3 copies by one request
_AT_ONCE = 16  # requests on their way


@dataclass(frozen=True, slots=True)
class RemoteFolder(Folder):
    """Objects whose names begin alike."""

    uri: str
    store: ObjectStore

    @classmethod
    def at(cls, uri: str, access: Access | None = None) -> RemoteFolder:
        """The folder at a URI; without an access the environment and the machine's role decide."""
        from obstore.exceptions import BaseError

        try:
            return cls(uri, _store(uri, access or access_to(uri)))
        except (BaseError, ValueError) as error:
            raise NowhereError(uri, reason_of(error)) from error

    def names(self, inside: str = "", after: str = "") -> list[str]:
        """The names of the files in a folder inside this one, those after one of them; none when it is not there."""
        start = f"{inside}/" if inside else ""
        found = self._listed(inside, f"{start}{after}") if after else self._level(inside)["objects"]
        paths = sorted(each["path"].removeprefix(start) for each in found)
        return [path for path in paths if "/" not in path]

    def folders(self, inside: str = "") -> list[str]:
        """The names of the folders in a folder inside this one; none when it is not there."""
        return sorted(prefix.rstrip("/").rpartition("/")[2] for prefix in self._level(inside)["common_prefixes"])

    def files(self, inside: str = "") -> list[str]:
        """All files below a folder inside this one, however deep; none when it is not there."""
        return sorted(each["path"] for each in self._listed(inside))

    def stored(self, inside: str = "", enter: Callable[[str], bool] = everywhere) -> list[Stored]:
        """The same, each with its state, or the one file of that name; one listing holds all folders."""
        found = self._listed(inside) or self._one(inside)
        return sorted(map(_stored, found), key=lambda file: file.name)

    def _one(self, name: str) -> Sequence[ObjectMeta]:
        import obstore

        try:
            return [_asked(self.uri, lambda: obstore.head(self.store, name))] if name else []
        except FileNotFoundError:
            return []

    def _level(self, inside: str) -> ListResult[Sequence[ObjectMeta]]:
        import obstore

        return _asked(self.uri, lambda: obstore.list_with_delimiter(self.store, inside or None))

    def _listed(self, inside: str, after: str | None = None) -> Sequence[ObjectMeta]:
        import obstore

        return _asked(self.uri, lambda: obstore.list(self.store, inside or None, offset=after).collect())

    def missing(self, names: Iterable[str]) -> list[str]:
        """Which of these files are not there."""
        wanted = sorted(names)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = pool.map(self.modified, wanted)
            return [name for name, at in zip(wanted, found, strict=True) if at is None]

    def read(self, name: str) -> bytes:
        """What is in a file."""
        import obstore

        try:
            return _asked(self.uri, lambda: bytes(obstore.get(self.store, name).bytes()))
        except FileNotFoundError as error:
            raise AbsentError(self.uri, f"there is no {name}") from error

    def write(self, name: str, content: bytes) -> None:
        """Put a file there, whole or not at all."""
        import obstore

        _asked(self.uri, lambda: obstore.put(self.store, name, content))

    def create(self, name: str, content: bytes) -> bool:
        """Put a file there if none has that name; says whether it did."""
        import obstore
        from obstore.exceptions import AlreadyExistsError

        try:
            _asked(self.uri, lambda: obstore.put(self.store, name, content, mode="create", use_multipart=False))
        except AlreadyExistsError:
            return False
        return True

    def copy(self, name: str, target: str) -> None:
        """Put what is in one file into another, there or not; storage copies what is not too large for that."""
        import obstore

        def fetched() -> None:
            with obstore.open_writer(self.store, target) as file:
                for part in obstore.get(self.store, name).stream():
                    file.write(part)

        large = _asked(self.uri, lambda: obstore.head(self.store, name))["size"] > LARGEST_COPY
        _asked(self.uri, fetched if large else lambda: obstore.copy(self.store, name, target))

    def remove(self, name: str) -> None:
        """Remove a file; one that is not there is fine."""
        import obstore

        _asked(self.uri, lambda: obstore.delete(self.store, name))

    def remove_folder(self, name: str) -> None:
        """Remove a folder and all that is in it; one that is not there is fine."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self.remove, self.files(name)))

    def modified(self, name: str) -> datetime | None:
        """When a file was last written, by the storage's own clock; none when it is not there."""
        import obstore

        try:
            return _asked(self.uri, lambda: obstore.head(self.store, name))["last_modified"]
        except FileNotFoundError:
            return None


def _stored(file: ObjectMeta) -> Stored:
    modified = (file["last_modified"] - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return Stored(file["path"], file["size"], modified * 1000, file["e_tag"])


def _asked(uri: str, ask: Callable[[], Answer]) -> Answer:
    from obstore.exceptions import AlreadyExistsError, BaseError

    try:
        return patiently(ask)
    except AlreadyExistsError:
        raise
    except (BaseError, OSError) as error:
        if isinstance(error, FileNotFoundError) and "NoSuchBucket" not in str(error):
            raise
        raise UnreachableError(uri, reason_of(error)) from error


def reason_of(error: Exception) -> str:
    """Why the storage said no, in one short line."""
    told = str(error)
    if said := re.search(r"<Code>(.*?)</Code>(?:<Message>(.*?)</Message>)?", told):
        return ": ".join(filter(None, said.groups()))
    if deep := re.findall(r"(?:message|error): \"(.*?)\"", told):
        return str(deep[-1])
    return reason(ValueError(told.partition("\n\nDebug source:")[0].rpartition(" - ")[2]))


def _store(uri: str, access: Access) -> ObjectStore:
    from obstore.store import S3Store, from_url

    options, opened = access.to_object_store(), cast("Any", from_url)  # whose types are one store's each
    shared: dict[str, Any] = {"client_options": _client(options), "retry_config": _retries(options)}
    if not isinstance(access, S3Access):
        return cast("ObjectStore", opened(escaped(uri), config=_among(options, "azure_", "google_") or None, **shared))
    config = {k: v for k, v in _among(options, "aws_").items() if not k.startswith(_KEYS)}
    return S3Store(
        access.bucket,
        prefix=uri.partition("://")[2].partition("/")[2].strip("/") or None,
        config=config,  # type: ignore[arg-type]
        # Not in the config: there a token of the environment's would be added to keys that have none.
        credential_provider=_keys(access.keys) if access.keys else None,
        **shared,
    )


_KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")


def _among(options: Mapping[str, str], *prefixes: str) -> dict[str, Any]:
    known = {k: v for k, v in options.items() if k.lower().startswith(prefixes)}
    return {k: v for k, v in known.items() if not k.endswith("allow_http")}


def _client(options: Mapping[str, str]) -> ClientConfig:
    plain = any(value == "true" for name, value in options.items() if name.endswith("allow_http"))
    times = {name: options[name] for name in ("timeout", "connect_timeout") if name in options}
    return {"allow_http": plain, **times}  # type: ignore[typeddict-item]


def _retries(options: Mapping[str, str]) -> RetryConfig:
    return {"max_retries": int(options.get("max_retries", 10))}


def _keys(keys: Keys) -> S3CredentialProvider:
    def provided() -> S3Credential:
        token = keys.token.get_secret_value() if keys.token else None
        return {
            "access_key_id": keys.access.get_secret_value(),
            "secret_access_key": keys.secret.get_secret_value(),
            "token": token,
            "expires_at": None,
        }

    return provided
