"""A client of a running server, for the author of a runtime (docs/how-to/python.md).

`Client` blocks and `AsyncClient` is awaited. Both have the words of `Kernel` for questions, and besides them requests for
permissions, approvals, reports, and calls with a permit. Each name is imported when it is first used.

>>> from orgkernel.client import Client
>>> Client("http://127.0.0.1:8000", timeout=2.0).timeout
2.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orgkernel.client.blocking import Client
    from orgkernel.client.permit import CallPermit, NotAllowed
    from orgkernel.client.waiting import AsyncClient

_HOMES = {"AsyncClient": "waiting", "CallPermit": "permit", "Client": "blocking", "NotAllowed": "permit"}

__all__ = ["AsyncClient", "CallPermit", "Client", "NotAllowed"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
