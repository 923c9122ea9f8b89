"""What each field of a model means: the text that stands below it in the source."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from textwrap import dedent


def descriptions(model: type) -> dict[str, str]:
    """The texts below the fields of a class and of those it builds on.

    Read from the source when somebody asks: pydantic would do it for every class at every start.
    """
    found: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if kind.__module__.startswith("deltaworks."):
            found |= _own(kind)
    return found


def _own(kind: type) -> dict[str, str]:
    (definition,) = ast.parse(dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }
