"""Tokens of a text as models count them: o200k_base, whose table comes with the package of `orgkernel[tokens]`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

ENCODING = "o200k_base"
_MODULE = "bpe_openai._bindings"


@cache
def _find_encoding() -> Any:
    """The compiled half of the package. Its Python half reads the tables of all encodings, which takes seconds."""
    package = find_spec("bpe_openai")
    if package is None or package.origin is None:
        return None
    files = Path(package.origin).parent.glob("_bindings.*")
    file = next((each for each in files if each.name.endswith(tuple(EXTENSION_SUFFIXES))), None)
    if file is None:
        return None
    spec = spec_from_file_location(_MODULE, file, loader=ExtensionFileLoader(_MODULE, str(file)))
    if spec is None or spec.loader is None:
        return None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.tokenizer_for_encoding(ENCODING)


def find_counter() -> Callable[[str], int] | None:
    """What counts the tokens of a text. None if the extra is not installed."""
    encoding = _find_encoding()
    return None if encoding is None else lambda text: int(encoding.count(text))
