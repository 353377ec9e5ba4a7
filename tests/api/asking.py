"""Ask an application in process, as a client on loopback would."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation

ORG = "software_dev"
ROLE = "codegen_specialist"
ROLE_FILE = f"roles/{ROLE}.yaml"
ORG_FILE = "org.yaml"
"""The file of the organization itself: an error in it concerns all roles, so it holds back the organization."""
GOOD_LINE = "org_name: Software Development Organization"
BAD_LINE = "org_name: []"


def client_of(
    kernel: Kernel, address: str = "127.0.0.1", base_url: str = "http://127.0.0.1:8000"
) -> TestClient:
    """A client of an application over a kernel."""
    return TestClient(create_app(kernel), base_url=base_url, client=(address, 50000))


def stored_client(
    kernel: Kernel,
    store: StoreLocation,
    address: str = "127.0.0.1",
    host: str = "127.0.0.1:8000",
    **options: Any,
) -> TestClient:
    """A client of an application with a store there."""
    app = create_app(kernel, store=store, **options)
    return TestClient(app, base_url=f"http://{host}", client=(address, 50000))


def problem(response: Any, status: int, code: str) -> dict[str, Any]:
    """The problem a response carries, which is of this status and code."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    said: dict[str, Any] = response.json()
    assert (said["status"], said["code"], said["type"]) == (status, code, f"/problems/{code}")
    assert said["title"]
    assert said["detail"]
    return said
