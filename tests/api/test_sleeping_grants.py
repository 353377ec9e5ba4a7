"""Grants to a removed role are suspended in every server of a store until an operator resumes them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from orgkernel.errors import StoreBusy
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.operations import upkeep
from orgkernel.state.location import StoreLocation
from tests.api.asking import stored_client
from tests.api.keys import bearer, first_key, opened
from tests.state.contract import history
from tests.support.trees import write_tree

ORGANIZATION = '{_schema: "orgkernel:organization", org_id: shop, hierarchy: {co: {}%s}}\n'
WITH, WITHOUT = ORGANIZATION % ", scout: {reports_to: co}", ORGANIZATION % ""
FILES = {
    "org.yaml": WITH,
    "roles/co.yaml": '{_schema: "orgkernel:role_profile", role_id: co, role_type: commander}\n',
    "roles/scout.yaml": '{_schema: "orgkernel:role_profile", role_id: scout, reports_to: co}\n',
    "tools.yaml": '{_schema: "orgkernel:tool_catalog", tools: {radio: {type: browser}}}\n',
}
QUESTION = {
    "subject": {"type": "role", "id": "scout"}, "action": {"name": "use"}, "resource": {"type": "tool", "id": "radio"},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An organization with a scout."""
    return write_tree(tmp_path / "shop", FILES)


def may(client: TestClient) -> bool:
    answer = client.post("/access/v1/evaluation", json=QUESTION)
    assert answer.status_code == 200, answer.text
    return bool(answer.json()["decision"])


def write(client: TestClient, folder: Path, text: str) -> None:
    """Edit the organization; a server reads it."""
    (folder / "org.yaml").write_text(text, encoding="utf-8")
    asyncio.run(client.app.state.reloader.reload())


def give(store: StoreLocation, org_id: str = "shop") -> str:
    with open_store(store) as state:
        return state.grants.issue(
            "role:scout", ["tool:radio"], issued_by="person:owner", org_id=org_id
        ).grant_id


@pytest.mark.parametrize("org_id", ["shop", "*"])
def test_a_role_of_the_same_name_does_not_find_the_grants_of_the_former_one(
    folder: Path, store: StoreLocation, org_id: str
) -> None:
    """One server sees the role go and come back; another, which saw nothing of it, gives nothing either."""
    secret, grant = first_key(store), give(store, org_id)
    with (
        stored_client(Kernel.open(folder), store) as one,
        stored_client(Kernel.open(folder), store) as other,
    ):
        assert (may(one), may(other)) == (True, True)
        write(one, folder, WITHOUT)
        write(one, folder, WITH)
        assert (may(one), may(other)) == (False, False)
        found = other.get("/v1/diagnostics").json()["diagnostics"]
        told = [each["message"] for each in found if each["code"] == "ORG610"]
        assert told == [f"grant `{grant}` to `role:scout` is asleep"]
        waking = other.post(
            f"/v1/orgs/active/grants/{grant}/wake", json={"reason": "meant"}, headers=bearer(secret)
        )
        assert (waking.status_code, waking.json()["org_id"]) == (200, "shop")
        assert (may(one), may(other)) == (True, True)
        write(one, folder, WITH + "# read again\n")
        assert may(one)
    with opened(store) as state:
        assert [what for what, _ in history(state, "grant")] == ["created", "slept", "woken"]


def test_a_server_that_begins_without_the_role_notes_it(folder: Path, store: StoreLocation) -> None:
    """A server that starts while the role is missing suspends its grants, even if the role was removed while no server
    ran.
    """
    give(store)
    (folder / "org.yaml").write_text(WITHOUT, encoding="utf-8")
    with stored_client(Kernel.open(folder), store):
        pass
    (folder / "org.yaml").write_text(WITH, encoding="utf-8")
    with stored_client(Kernel.open(folder), store) as client:
        assert not may(client)


def test_a_broken_edit_puts_nothing_to_sleep(folder: Path, store: StoreLocation) -> None:
    """The last good version goes on answering, and says nothing about who is gone."""
    give(store)
    with stored_client(Kernel.open(folder), store) as client:
        write(client, folder, WITHOUT.replace("hierarchy", "hierarchi"))
        write(client, folder, "{")
        assert may(client)


def test_an_organization_that_is_removed_takes_its_grants_along(folder: Path, store: StoreLocation) -> None:
    """An organization of the same name that comes later is another one."""
    give(store)
    with stored_client(Kernel.open(folder.parent), store) as client:
        assert may(client)
        folder.rename(folder.parent.parent / "elsewhere")
        asyncio.run(client.app.state.reloader.reload())
        (folder.parent.parent / "elsewhere").rename(folder)
        asyncio.run(client.app.state.reloader.reload())
        assert not may(client)


def test_a_load_the_store_could_not_note_is_not_forgotten(
    folder: Path, store: StoreLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The role is back before the store answers again: its grants sleep all the same."""
    give(store)
    with stored_client(Kernel.open(folder), store) as client:
        with monkeypatch.context() as broken:

            def busy(*_: object) -> None:
                raise StoreBusy("the store did not answer in time", "try again later")

            broken.setattr(upkeep, "note_vanished", busy)
            write(client, folder, WITHOUT)
        write(client, folder, WITH)
        assert not may(client)
