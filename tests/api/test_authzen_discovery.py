"""Where the decision point is: by the host that was asked, and behind a trusted proxy by what the proxy says."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import client_of, problem, stored_client
from tests.api.keys import bearer, new_key

PATH = "/.well-known/authzen-configuration"
FORWARDED = {"x-forwarded-proto": "https", "x-forwarded-host": "pdp.example.com"}


def endpoints(base: str) -> dict[str, str]:
    access = f"{base}/access/v1"
    return {
        "policy_decision_point": base,
        "access_evaluation_endpoint": f"{access}/evaluation",
        "access_evaluations_endpoint": f"{access}/evaluations",
        "search_subject_endpoint": f"{access}/search/subject",
        "search_resource_endpoint": f"{access}/search/resource",
        "search_action_endpoint": f"{access}/search/action",
    }


def asked_behind(
    household: Kernel, file: StoreLocation, headers: dict[str, Any], *proxies: str
) -> dict[str, str]:
    key = new_key(file, ["read"])
    with stored_client(household, file, "10.0.0.7", "inner:8000", trusted_proxies=proxies) as client:
        response = client.get(PATH, headers={**bearer(key), **headers})
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    found: dict[str, str] = response.json()
    return found


def test_it_is_the_host_that_was_asked(templates: Kernel) -> None:
    """All endpoints, below one base."""
    with client_of(templates) as client:
        assert client.get(PATH).json() == endpoints("http://127.0.0.1:8000")


@pytest.mark.parametrize("proxy", ["10.0.0.7", "10.0.0.0/8"])
def test_a_trusted_proxy_says_the_scheme_and_host(household: Kernel, file: StoreLocation, proxy: str) -> None:
    """As a server behind it is reached."""
    assert asked_behind(household, file, FORWARDED, proxy) == endpoints("https://pdp.example.com")


@pytest.mark.parametrize("proxies", [(), ("10.0.0.8",), ("::/0",)])
def test_other_clients_cannot_set_the_discovered_address(
    household: Kernel, file: StoreLocation, proxies: tuple[str, ...]
) -> None:
    """A client that could would have others believe in a decision point of its own."""
    assert asked_behind(household, file, FORWARDED, *proxies) == endpoints("http://inner:8000")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-forwarded-proto", "javascript"),
        ("x-forwarded-proto", "https, http"),
        ("x-forwarded-host", "a.example/path"),
        ("x-forwarded-host", "user@a.example"),
        ("x-forwarded-host", "a.example?x"),
        ("x-forwarded-host", "a.example, b.example"),
        ("x-forwarded-host", ""),
    ],
)
def test_what_a_proxy_says_must_be_a_scheme_and_a_host(
    household: Kernel, file: StoreLocation, name: str, value: str
) -> None:
    """A forwarded value that is not a scheme or a host is ignored."""
    assert asked_behind(household, file, {name: value}, "10.0.0.7") == endpoints("http://inner:8000")


def test_a_trusted_proxy_opens_no_loopback(household: Kernel) -> None:
    """A forwarded request still needs a key, also from a trusted proxy on this machine."""
    app = create_app(household, trusted_proxies=["127.0.0.1"])
    client = TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000))
    assert problem(client.get(PATH, headers=FORWARDED), 403, "FORWARDED")


def test_a_proxy_is_an_address(household: Kernel) -> None:
    """Anything else is refused at the start."""
    with pytest.raises(UsageError, match=r"`example.com` is not an address or a network"):
        create_app(household, trusted_proxies=["example.com"])
