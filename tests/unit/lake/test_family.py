from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, get_args

import pytest

from deltaworks.pipeline.vaults import VAULTS
from deltaworks.spark.sinks import SINKS
from deltaworks.spark.sources import SOURCES
from deltaworks.spark.transforms import TRANSFORMS

if TYPE_CHECKING:
    from deltaworks.lake.family import OneOf

FAMILIES = pytest.mark.parametrize("family", [SOURCES, SINKS, TRANSFORMS, VAULTS], ids=lambda family: family.key)


@FAMILIES
def test_a_member_is_found_by_the_names_that_it_takes(family: OneOf) -> None:
    for model in family.models():
        taken = next(field.annotation for field in model.model_fields.values() if field.alias == family.key)

        assert set(get_args(taken)) == {tag for tag in family.members if family.model(tag) is model}


def test_only_the_member_that_is_named_is_loaded() -> None:
    code = """
import sys
from pydantic import TypeAdapter
from deltaworks.spark.transforms import AnyTransform
TypeAdapter(AnyTransform).validate_python({"type": "select", "parameters": {"columns": ["a"]}})
print(*(name for name in sys.modules if name.startswith("deltaworks.spark.transforms.")))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert sorted(found) == ["deltaworks.spark.transforms.base", "deltaworks.spark.transforms.select"]
