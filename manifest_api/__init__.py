"""The HTTP surface: it authenticates, parses, asks the kernel or calls one operation, and renders (docs/http.md).

`create_app(kernel)` returns the ASGI application, and `manifest_api.server.serve` runs it. FastAPI is imported when one
of them is first used, so that the rest of the product stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manifest_api.app import create_app
    from manifest_api.openapi import build_openapi
    from manifest_api.server import serve

_HOMES = {
    "build_openapi": "manifest_api.openapi",
    "create_app": "manifest_api.app",
    "serve": "manifest_api.server",
}

__all__ = ["build_openapi", "create_app", "serve"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
