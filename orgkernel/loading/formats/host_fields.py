"""Keeps the fields of an agent's file that only its host knows, so that an export to this host has them, too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.sources import SourceDocument

_KEY = "host_fields"
_DIGITS = 9


def pack_host_fields(value: Mapping[str, Any], known: Iterable[str]) -> dict[str, list[str]]:
    """The words with the values of some fields, as they are kept next to a record."""
    kept = [json.dumps([key, _resolve(value[key])], ensure_ascii=False) for key in known if key in value]
    return {_KEY: kept} if kept else {}


def read_host_fields(document: SourceDocument) -> dict[str, Any]:
    """The fields that are kept next to a record, in the order of its format."""
    return dict(json.loads(each) for each in get_list_words(document).get(_KEY, ()))


def _resolve(value: Any) -> Any:
    """The value with booleans and numbers, which front matter is read without."""
    if isinstance(value, dict):
        return {key: _resolve(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_resolve(each) for each in value]
    if value in ("true", "false"):
        return value == "true"
    is_number = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS
    return int(value) if is_number else value
