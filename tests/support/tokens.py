"""Tokens of a text as models count them: o200k_base, whose table comes with the package."""

from __future__ import annotations

from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

ENCODING = "o200k_base"


@cache
def _encoding() -> Any:
    """The compiled half of the package. Its Python half reads the tables of all encodings, which takes seconds."""
    package = find_spec("bpe_openai")
    assert package is not None
    assert package.origin is not None
    name = "bpe_openai._bindings"
    found = Path(package.origin).parent.glob("_bindings.*")
    file = next(each for each in found if each.name.endswith(tuple(EXTENSION_SUFFIXES)))
    spec = spec_from_file_location(name, file, loader=ExtensionFileLoader(name, str(file)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.tokenizer_for_encoding(ENCODING)


@cache
def count_tokens(text: str) -> int:
    """How many tokens a text has."""
    return int(_encoding().count(text))
