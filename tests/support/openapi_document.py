"""The OpenAPI document, built once for all tests of a process that only read it."""

from __future__ import annotations

from functools import cache
from typing import Any

from manifest_api import build_openapi


@cache
def get_openapi() -> dict[str, Any]:
    """The document. It takes a second to build; tests that change it build their own."""
    return build_openapi()
