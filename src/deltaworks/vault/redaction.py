"""Keeping secrets out of what people can read."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from deltaworks.errors import DeltaworksError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from deltaworks.vault.credential import Credential

MASK = "•••"
SHORTEST = 4  # a shorter value stands in every text by chance; it is hidden only where a name gives it away
_SECRET_NAMES = re.compile(
    r"(?i)pass(word|wd|phrase)?$|secret|token|credential(?!id)|private.?key|access.?key|account.?key|api.?key|sas$|signature"
)
_URL_PASSWORD = re.compile(r"(?P<before>[a-z][a-z0-9+.-]*://[^/\s:@]*:)\S+(?=@)", re.IGNORECASE)
_ASSIGNED = re.compile(
    r"(?i)(?P<before>\b[\w.-]*(?:password|passwd|secret|token|access.?key|account.?key)[\w.-]*[\"']?\s*[=:]\s*[\"']?)"
    r"(?P<value>[^\s,;&\"']+)"
)


class Redactor:
    """Hides known secrets in any text, in every spelling they may have there, and values under secret-looking names."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {secret for secret in secrets if len(secret) >= SHORTEST}
        # The longest first: a secret may contain another.
        ordered = sorted(known, key=len, reverse=True)
        self._patterns = [re.compile(pattern) for secret in ordered for pattern in _patterns(secret)]

    @classmethod
    def of(cls, credentials: Iterable[Credential]) -> Redactor:
        """A redactor for everything these credentials hold."""
        return cls(secret for credential in credentials for secret in credential.secrets())

    def text(self, text: str) -> str:
        """Return `text` with every secret hidden."""
        for pattern in self._patterns:
            text = pattern.sub(MASK, text)
        text = _URL_PASSWORD.sub(rf"\g<before>{MASK}", text)
        return _ASSIGNED.sub(rf"\g<before>{MASK}", text)

    @contextmanager
    def hiding(self) -> Iterator[None]:
        """Hide every secret in what our errors say."""
        try:
            yield
        except DeltaworksError as error:
            error.args, error.hint = (self.text(str(error)),), self.text(error.hint)
            raise

    def value(self, value: Any, name: str = "") -> Any:
        """Return JSON-like `value` with every secret hidden."""
        if isinstance(value, Mapping):
            return {key: self.value(inner, str(key)) for key, inner in value.items()}
        if isinstance(value, str | int | float) and not isinstance(value, bool) and _SECRET_NAMES.search(name):
            return MASK
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Sequence):
            return [self.value(inner, name) for inner in value]
        return value


def _patterns(secret: str) -> set[str]:
    raw = secret.encode(errors="surrogateescape")  # a variable of the environment need not be UTF-8
    return {re.escape(spelling) for spelling in {secret} | _in_json(secret) | _in_urls(raw)} | _in_base64(raw)


def _in_json(secret: str) -> set[str]:
    return {json.dumps(secret, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}


def _in_urls(raw: bytes) -> set[str]:
    spelled = {quote(raw), quote(raw, safe=""), quote_plus(raw)}
    return spelled | {re.sub("%..", lambda escape: escape[0].lower(), text) for text in spelled}


def _in_base64(raw: bytes) -> set[str]:
    """What is sure to stand in the base64 of any text with the secret in it, and the signs beside that share its bits.

    Three bytes are four signs, so the secret has three spellings, by where in such a group it begins.
    """
    patterns = set()
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + raw).decode()
        whole = encoded[-(-before * 4 // 3) : (before + len(raw)) * 4 // 3]
        for spelled in (whole, whole.replace("+", "-").replace("/", "_")):
            patterns.add(rf"{_SIGN if before else ''}{re.escape(spelled)}{_SIGN if (before + len(raw)) % 3 else ''}")
    return patterns


_SIGN = "[A-Za-z0-9+/_-]?"
