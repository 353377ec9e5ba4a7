"""Proxies that may state the scheme and host of a request."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.requests import HTTPConnection

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError

_HOST = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9a-fA-F:.]{2,45}\])(?::[0-9]{1,5})?"
)


class TrustedProxies:
    """Networks of proxies that may state the scheme and host of a request. By default there are none."""

    def __init__(self, written: Iterable[str] = ()) -> None:
        """Each is an address or a network, such as `10.0.0.0/8`. Raises `UsageError`."""
        networks: list[IPv4Network | IPv6Network] = []
        for each in written:
            try:
                networks.append(ip_network(each))
            except ValueError:
                raise UsageError(
                    f"{quote(each)} is not an address or a network", "write `10.0.0.7` or `10.0.0.0/8`"
                ) from None
        self._networks = tuple(networks)

    def includes(self, client: str) -> bool:
        """Whether a connection from this address comes from a trusted proxy."""
        if not self._networks:
            return False
        try:
            address = ip_address(client)
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self._networks)


def read_base_url(request: HTTPConnection, trusted: TrustedProxies) -> str:
    """The URL of the server for the client. Forwarded headers are used only if the proxy is trusted."""
    scheme, host = request.url.scheme, request.url.netloc
    client = request.client
    if client is not None and trusted.includes(client.host):
        headers = request.headers
        stated_scheme, stated_host = headers.getlist("x-forwarded-proto"), headers.getlist("x-forwarded-host")
        if len(stated_scheme) == 1 and stated_scheme[0] in ("http", "https"):
            scheme = stated_scheme[0]
        if len(stated_host) == 1 and is_host(stated_host[0]):
            host = stated_host[0]
    return f"{scheme}://{host}"


def is_host(text: str) -> bool:
    """Whether a string is a host name or an address, with or without a port."""
    return _HOST.fullmatch(text) is not None
