"""Keeping secrets out of what people can read."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deltaworks.vault.credential import Credential

MASK = "•••"
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
        spellings = {spelling for secret in secrets if secret for spelling in _spellings(secret)}
        # The longest first: a secret may contain another.
        self._spellings = sorted(spellings, key=len, reverse=True)

    @classmethod
    def of(cls, credentials: Iterable[Credential]) -> Redactor:
        """A redactor for everything these credentials hold."""
        return cls(secret for credential in credentials for secret in credential.secrets())

    def text(self, text: str) -> str:
        """Return `text` with every secret hidden."""
        for spelling in self._spellings:
            text = text.replace(spelling, MASK)
        text = _URL_PASSWORD.sub(rf"\g<before>{MASK}", text)
        return _ASSIGNED.sub(rf"\g<before>{MASK}", text)

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


def _spellings(secret: str) -> set[str]:
    raw = secret.encode(errors="surrogateescape")  # a variable of the environment need not be UTF-8
    # Without the padding, which not everybody writes.
    encoded = {base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("=")}
    escaped = {json.dumps(secret, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    return {secret, quote(raw, safe=""), quote_plus(raw)} | encoded | escaped
