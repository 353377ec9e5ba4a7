"""Why a server cannot be reached or used, in orgkernel's own words.

The text of a foreign exception can hold what the server sent, addresses inside the network, and numbers of file
descriptors. A caller gets none of it, because the caller can be an agent that takes it for advice.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final

from orgkernel.diagnostics.wording import quote

_OWN: Final = frozenset({"DecodingError", "RefusedRedirect"})
"""Exceptions with a text by orgkernel: those that `limited_http` raises."""
_TEXTS: Final = {
    "ConnectError": "no connection",
    "ConnectTimeout": "no connection in time",
    "PoolTimeout": "no free connection in time",
    "ReadTimeout": "no answer in time",
    "WriteTimeout": "the request was not taken in time",
    "ReadError": "the connection ended",
    "WriteError": "the connection ended",
    "RemoteProtocolError": "the connection ended, or the answer is not valid HTTP",
    "UnsupportedProtocol": "the URL is not one of an HTTP server",
    "InvalidURL": "the URL is not valid",
}


def describe_failure(error: BaseException) -> str:
    """Why a connection or a start failed, as a part of a sentence."""
    for cause in _list_causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate cannot be verified: {cause.verify_message.lower()}"
        if isinstance(cause, OSError) and isinstance(cause.strerror, str) and cause.errno is not None:
            # The text of the library can contain the address. Numbers below zero are those of host names.
            reason = (os.strerror(cause.errno) if cause.errno > 0 else cause.strerror).lower()
            return f"{reason}: {quote(cause.filename)}" if isinstance(cause.filename, str) else reason
    name = type(error).__name__
    return str(error) if name in _OWN and str(error) else _TEXTS.get(name, name)


def describe_redirect(status: int) -> str:
    """The text for a redirect that is not followed. Only the server claims where it leads, so orgkernel does not
    recommend that address.
    """
    return f"it answered with HTTP status {status}, a redirect that is not followed"


def is_redirect(status: int) -> bool:
    """Whether a status asks for another request elsewhere."""
    return 300 <= status < 400 and status != HTTPStatus.NOT_MODIFIED


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """An exception, and those that led to it."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__ or error
