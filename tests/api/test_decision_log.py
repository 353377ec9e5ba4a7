"""The decision log and the next brief of a mission over HTTP: the answers of the command line."""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy import update
from starlette.testclient import TestClient

from orgkernel.state.location import StoreLocation
from orgkernel.state.tables import contract_records
from tests.api.asking import problem
from tests.api.keys import bearer, first_key, opened
from tests.support.contracts import as_text, changed
from tests.support.in_process import run_here

WRITTEN = [
    changed("brief", {}),
    changed("decision_entry", {"id": "7d9f0a12-34b5-4c6d-8e7f-90a1b2c3d4e5"}),
]
NEXT = f"/v1/orgs/household/contracts/{WRITTEN[0]['id']}/next"
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def test_the_log_and_the_next_brief_are_those_of_the_command_line(
    local: TestClient, store: StoreLocation, tmp_path: Path
) -> None:
    """A draft has an id of its own every time. What is not there, or was changed in the store, is a problem."""
    admin = bearer(first_key(store))
    assert local.get("/v1/orgs/household/decisions").json() == {"entries": [], "markdown": ""}
    problem(local.get(NEXT), 404, "UNKNOWN_RECORD")
    for each in WRITTEN:
        local.post(
            "/v1/orgs/household/contracts", json={"contract": as_text(each)}, headers=admin
        ).raise_for_status()
    where = ("--org", "household", "--store", store.path or store.url)
    log = local.get("/v1/orgs/household/decisions").json()
    assert [each["title"] for each in log["entries"]] == [WRITTEN[1]["title"]]
    assert log["markdown"] == run_here("task", "log", "export", "--markdown", *where, cwd=tmp_path).stdout
    draft = local.get(NEXT).json()
    assert (draft["brief"]["parent"], draft["brief"]["verify_command"]) == (WRITTEN[0]["id"], "")
    said = run_here("task", "next", WRITTEN[0]["id"], *where, "--format", "markdown", cwd=tmp_path).stdout
    assert _ID.sub("ID", draft["markdown"]) == _ID.sub("ID", said)
    assert local.get(NEXT).json()["brief"]["id"] != draft["brief"]["id"]
    with opened(store) as kept, kept.engine.begin() as connection:
        connection.execute(update(contract_records).values(actor="somebody else"))
    problem(local.get("/v1/orgs/household/decisions"), 409, "LOG_MUTATED")
