"""A client of a running server, for the author of a runtime (docs/how-to/python.md).

`Client` blocks and `AsyncClient` is awaited. Both have the words of `Kernel` for questions, and besides them requests for
permissions, approvals, reports, and calls with a permit.

>>> from orgkernel.client import Client
>>> Client("http://127.0.0.1:8000", timeout=2.0).timeout
2.0
"""

from orgkernel.client.blocking import Client
from orgkernel.client.permit import NotAllowed, Permit
from orgkernel.client.waiting import AsyncClient

__all__ = ["AsyncClient", "Client", "NotAllowed", "Permit"]
