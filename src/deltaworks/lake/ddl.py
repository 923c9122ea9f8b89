"""Columns written as SQL does, `id BIGINT, name STRING`, read without a JVM into Spark's JSON."""

from __future__ import annotations

import re
from typing import Any

from deltaworks.errors import ConfigError, did_you_mean

Json = dict[str, Any]

# By the words that SQL and Spark's JSON have for them.
PLAIN = {
    "boolean": "boolean",
    "tinyint": "byte",
    "byte": "byte",
    "smallint": "short",
    "short": "short",
    "int": "integer",
    "integer": "integer",
    "bigint": "long",
    "long": "long",
    "float": "float",
    "real": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "variant": "variant",
}
DECIMAL = ("decimal", "dec", "numeric")
SIZED = ("char", "character", "varchar")  # of any length: files keep no lengths
NESTED = ("array", "map", "struct")
_TOKEN = re.compile(r"\s+|--[^\n]*|(`(?:[^`]|``)+`|'(?:[^'\\]|\\.|'')*'|\w+|[<>(),:])", re.DOTALL)


class SchemaTextError(ConfigError):
    """A text that should say columns and types, and does not."""

    def __init__(self, what: str, *, hint: str = "Write columns as in `id BIGINT, name STRING`.") -> None:
        super().__init__(f"{what[:1].upper()}{what[1:]}.", hint=hint)


def schema_of(text: str) -> Json:
    """The columns a text says, as Spark's JSON has them."""
    try:
        fields = _Reader(_tokens(text)).fields(end="")
    except RecursionError:
        raise SchemaTextError("the types are too deep") from None
    require_names(fields)
    return {"type": "struct", "fields": fields}


def type_of(text: str) -> Any:
    """One type, such as `bigint` or `array<int>`, as Spark's JSON has it."""
    reader = _Reader(_tokens(text))
    found = reader.type()
    reader.take("")
    return found


def require_names(fields: list[Json]) -> None:
    """Refuse columns of which two have one name for Spark, which ignores case."""
    names = [field["name"].lower() for field in fields]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SchemaTextError(f"two columns are called {twice!r}", hint="Name each column once.")


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            near = text[at : at + 20].split(maxsplit=1)[0]
            raise SchemaTextError(f"{near!r} is no part of a column", hint="Put odd names between backticks: `a-b`.")
        found += [token[1]] if token[1] else []
        at = token.end()
    return found


class _Reader:
    """Reads one token after the other."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]  # the empty one is the end
        self._at = 0

    @property
    def next(self) -> str:
        return self._tokens[self._at]

    def has(self, *words: str) -> bool:
        """Whether these words come next; they are taken then."""
        there = [token.lower() for token in self._tokens[self._at : self._at + len(words)]]
        if there != list(words):
            return False
        self._at += len(words)
        return True

    def take(self, sign: str) -> None:
        if not self.has(sign):
            raise self._missing(repr(sign) if sign else "a comma or the end")

    def _missing(self, wanted: str) -> SchemaTextError:
        there = f"{self.next!r} stands" if self.next else "the text ends"
        return SchemaTextError(f"{there} where {wanted} should be")

    def fields(self, end: str) -> list[Json]:
        found = [self._field()]
        while self.has(","):
            found.append(self._field())
        self.take(end)
        return found

    def _field(self) -> Json:
        name = self._name()
        self.has(":")
        kind = self.type(name)
        nullable = not self.has("not", "null")
        metadata = {}
        if self.has("comment"):
            metadata = {"comment": re.sub(r"\\(.)|'(')", r"\1\2", self._word("a comment")[1:-1])}
        return {"name": name, "type": kind, "nullable": nullable, "metadata": metadata}

    def _name(self) -> str:
        word = self._word("a column")
        return word[1:-1].replace("``", "`") if word.startswith("`") else word

    def _word(self, what: str) -> str:
        word = self.next
        if not word or word in "<>(),:":
            raise self._missing(what)
        self._at += 1
        return word

    def type(self, column: str = "") -> Any:
        word = self._word(f"the type of {column!r}" if column else "a type")
        match word.lower():
            case kind if kind in PLAIN:
                return PLAIN[kind]
            case kind if kind in DECIMAL:
                return self._decimal()
            case kind if kind in SIZED:
                self._numbers(1)
                return "string"
            case kind if kind in NESTED:
                return self._nested(kind)
        known = (*PLAIN, *DECIMAL, *SIZED, *NESTED)
        raise SchemaTextError(f"{word!r} is no type", hint=did_you_mean(word, known))

    def _decimal(self) -> str:
        precision, scale = (*self._numbers(2), 0)[:2] if self.next == "(" else (10, 0)
        if not 1 <= precision <= 38 or scale > precision:
            raise SchemaTextError(f"'decimal({precision},{scale})' is no type", hint="At most 38 digits in all.")
        return f"decimal({precision},{scale})"

    def _numbers(self, most: int) -> list[int]:
        self.take("(")
        words = [self._word("a number")]
        while len(words) < most and self.has(","):
            words.append(self._word("a number"))
        self.take(")")
        if wrong := [word for word in words if not (word.isascii() and word.isdigit())]:
            raise SchemaTextError(f"{wrong[0]!r} is no number")
        return [int(word) for word in words]

    def _nested(self, kind: str) -> Json:
        self.take("<")
        if kind == "struct":
            return {"type": "struct", "fields": self.fields(end=">")}
        inner = [self.type()]
        if kind == "map":
            self.take(",")
            inner.append(self.type())
        self.take(">")
        if kind == "map":
            return {"type": "map", "keyType": inner[0], "valueType": inner[1], "valueContainsNull": True}
        return {"type": "array", "elementType": inner[0], "containsNull": True}
