"""A store that a newer program upgrades while servers, gateways and kernels of the older one have it open."""

from __future__ import annotations

import json
import os
import re
import socket
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import func, select

from orgkernel.kernel.stored import open_store
from orgkernel.state.database import make_engine
from orgkernel.state.location import StoreLocation
from orgkernel.state.schema_version import NEWEST
from orgkernel.state.tables import audit
from tests.api.asking import problem
from tests.api.keys import bearer, first_key
from tests.api.running import running
from tests.cli.test_serve import serving
from tests.gateway.gateways import on_wire
from tests.gateway.shop import Shop
from tests.state.opening import sqlite_at
from tests.support.newer_program import NEXT, NewerProgram
from tests.support.trees import TEMPLATES, copy_template

EVALUATION = {
    "subject": {"type": "person", "id": "partner"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "github"},
}
GRANT = {"subject": "person:partner", "resources": ["tool:github"]}


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> NewerProgram:
    """A program of the next version."""
    return NewerProgram(tmp_path_factory.mktemp("newer"))


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest) -> StoreLocation:
    if request.param == "sqlite":
        return sqlite_at(request.getfixturevalue("tmp_path"))
    given: StoreLocation = request.getfixturevalue("postgres_place")
    return given


def derive_name(place: StoreLocation) -> str:
    return place.path or place.url.replace("+psycopg", "")


def count_rows(place: StoreLocation) -> int:
    engine = make_engine(place)
    with engine.connect() as connection:
        rows: int = connection.scalar(select(func.count()).select_from(audit)) or 0
    engine.dispose()
    return rows


def test_an_older_server_refuses_what_depends_on_the_store(
    tmp_path: Path, place: StoreLocation, newer: NewerProgram
) -> None:
    """From the moment of the upgrade it decides, reads and writes nothing, and is not ready; documents are still answered."""
    key = bearer(first_key(place))
    with running(tmp_path, TEMPLATES / "household", store=derive_name(place)) as server:

        def post(path: str, body: object) -> httpx2.Response:
            return server.client.post(path, json=body, headers=key)

        assert post("/v1/orgs/household/grants", GRANT).status_code == 201
        assert post("/access/v1/evaluation", EVALUATION).status_code == 200
        assert server.get("/readyz").status_code == 200
        done = newer.run("store", "upgrade", "--store", derive_name(place), "--while-connected")
        assert (done.returncode, done.stderr) == (0, f"version {NEWEST} → {NEXT}\n")
        rows = count_rows(place)
        refusals = [
            post("/access/v1/evaluation", EVALUATION),
            post("/access/v1/evaluations", {**EVALUATION, "evaluations": [{}]}),
            post("/v1/orgs/household/grants", GRANT),
            server.get("/v1/grants", headers=key),
            server.get("/v1/orgs/household/roles/steward", headers=key),
            server.get("/v1/audit", headers=key),
            server.get("/readyz"),
        ]
        for each in refusals:
            said = problem(each, 503, "STORE_VERSION")
            assert "newer orgkernel" in said["help"]
            assert str(tmp_path) not in each.text
        assert server.get("/livez").status_code == 200
        assert server.get("/version").status_code == 200
        assert f"has version `{NEXT}`" in server.log
        assert count_rows(place) == rows


def test_an_upgrade_names_who_is_connected(tmp_path: Path, place: StoreLocation, newer: NewerProgram) -> None:
    """It refuses while a server runs, with its process, host and start, changes nothing, and is done after the server has ended."""
    first_key(place)
    shop = copy_template(tmp_path / "household", "household")
    with serving(shop, "--store", derive_name(place)) as (process, _):
        done = newer.run("store", "upgrade", "--store", derive_name(place))
        assert done.returncode == 2
        pattern = rf"connected to the store .*: process {process.pid} \(orgkernel serve\) on {re.escape(socket.gethostname())} since 20"
        assert re.search(pattern, done.stderr), done.stderr
        assert "--while-connected" in done.stderr
        assert str(os.getpid()) not in done.stderr
        with open_store(place, create=False):  # still of this version
            pass
    done = newer.run("store", "upgrade", "--store", derive_name(place))
    assert (done.returncode, done.stderr) == (0, f"version {NEWEST} → {NEXT}\n")


def test_an_older_gateway_lists_and_calls_nothing(tmp_path: Path, newer: NewerProgram) -> None:
    """A gateway in a process of its own denies each call after the upgrade, and its server is not asked."""
    shop = Shop(tmp_path)
    with on_wire(shop) as wire:
        assert wire.text("box__look") == "look done"
        done = newer.run("store", "upgrade", "--store", shop.store, "--while-connected")
        assert done.returncode == 0, done.stderr
        calls = len(shop.box.calls)
        answer = json.dumps(wire.call("box__look"))
        assert "STORE_VERSION" in answer
        assert "look done" not in answer
        assert len(shop.box.calls) == calls
