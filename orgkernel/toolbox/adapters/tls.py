"""The trusted certificates for servers. They are read once, because reading takes as long as hundreds of calls."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def build_tls_context() -> ssl.SSLContext:
    """The authorities that httpx2 trusts."""
    from httpx2 import create_ssl_context

    return create_ssl_context()
