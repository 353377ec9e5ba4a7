"""Previews: what a grant would open, what a revocation would close, and what the last change of the documents did."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel import Kernel
from tests.api.asking import client_of, problem, stored_client
from tests.api.keys import bearer, first_key, location_of, new_key
from tests.support.trees import copy_template

ORG = "/v1/orgs/starship"
TERMS = {"subject": "role:scout", "resources": ["tool:scheduler"], "level": "read"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return copy_template(tmp_path / "starship", "starship")


def test_a_preview_says_what_a_grant_would_open_and_stores_nothing(tree: Path, tmp_path: Path) -> None:
    """It needs no key on loopback, names who could issue the grant, and agrees with the decision after the grant."""
    place = location_of(tmp_path / "state.db")
    key = bearer(first_key(place))
    with stored_client(Kernel.open(str(tree)), place) as client:
        preview = client.post(f"{ORG}/grant-preview", json=TERMS).json()
        opened = {each["action"] for each in preview["widens"]}
        assert {(each["outcome_before"], each["outcome_after"]) for each in preview["widens"]} == {
            ("deny", "allow")
        }
        assert preview["grantors"] == ["person:captain"]
        assert client.get(f"{ORG}/grants").json()["grants"] == []
        grant = client.post(f"{ORG}/grants", json=TERMS, headers=key).json()
        again = client.post(f"{ORG}/grant-preview", json=TERMS).json()
        assert again["widens"] == []
        loss = client.get(f"{ORG}/grants/{grant['grant_id']}/revocation").json()
        assert loss["grant"]["grant_id"] == grant["grant_id"]
        assert {each["action"] for each in loss["narrows"]} == opened
        assert {(each["outcome_before"], each["outcome_after"]) for each in loss["narrows"]} == {
            ("allow", "deny")
        }
        assert len(client.get(f"{ORG}/grants").json()["grants"]) == 1
        client.post(f"{ORG}/grants/{grant['grant_id']}/revoke", json={}, headers=key)
        assert client.post(f"{ORG}/grant-preview", json=TERMS).json() == preview


def test_a_preview_needs_no_store(tree: Path) -> None:
    """The documents alone say what a grant would open and who could issue it."""
    client = client_of(Kernel.open(str(tree)))
    preview = client.post(f"{ORG}/grant-preview", json=TERMS).json()
    assert preview["grantors"] == ["person:captain"]
    assert {each["outcome_after"] for each in preview["widens"]} == {"allow"}
    unknown = client.post(f"{ORG}/grant-preview", json=TERMS | {"subject": "role:scuot"})
    assert (unknown.status_code, unknown.json()["code"]) == (409, "UNKNOWN_NAME")


def test_a_preview_needs_the_scope_to_read_and_a_known_organization(tree: Path, tmp_path: Path) -> None:
    """A key that may only report gets no answer; a misspelled name and a missing grant are explained."""
    place = location_of(tmp_path / "state.db")
    first_key(place)
    reporting = bearer(new_key(place, ["report"]))
    with stored_client(Kernel.open(str(tree)), place) as client:
        problem(client.post(f"{ORG}/grant-preview", json=TERMS, headers=reporting), 403, "SCOPE_MISSING")
        problem(client.post("/v1/orgs/other/grant-preview", json=TERMS), 404, "UNKNOWN_ORGANIZATION")
        unknown = client.post(f"{ORG}/grant-preview", json=TERMS | {"subject": "role:scuot"})
        assert (unknown.status_code, unknown.json()["code"]) == (409, "UNKNOWN_NAME")
        problem(client.get(f"{ORG}/grants/g-000000000000/revocation"), 404, "UNKNOWN_RECORD")


def test_the_changes_are_those_of_the_last_reload(tree: Path) -> None:
    """Before a change there is no earlier version; afterwards the report names edits, effects and lines of both sides."""
    kernel = Kernel.open(str(tree))
    profile = tree / "roles/scout.yaml"
    with client_of(kernel) as client:
        first = client.get(f"{ORG}/changes").json()
        assert (first["before"], first["report"]) == (None, None)
        text = profile.read_text(encoding="utf-8")
        profile.write_text(text.replace("    - {tool: issue_tracker, level: read}\n", ""), encoding="utf-8")
        kernel.reload()
        answer = client.get(f"{ORG}/changes").json()
        assert answer["before"] == first["snapshot"]
        assert answer["snapshot"] == kernel.organization("starship").snapshot.digest
        report = answer["report"]
        assert report["summary"]["widened"] == 0
        assert "scout loses tool issue_tracker at level read" in [
            each["sentence"] for each in report["changes"]
        ]
        assert report["edits"][0]["why_before"][0]["line"] == 26
        profile.write_text("broken: [", encoding="utf-8")
        kernel.reload()
        assert client.get(f"{ORG}/changes").json()["report"]["edits"] != []
        profile.write_text(text, encoding="utf-8")
        kernel.reload()
        assert client.get(f"{ORG}/changes").json()["report"]["summary"]["narrowed"] == 0


def test_a_role_out_of_service_is_not_compared(tree: Path) -> None:
    """A broken profile is no removed role, and the correction is no gain: the report says that the role is not compared."""
    kernel = Kernel.open(str(tree))
    profile = tree / "roles/scout.yaml"
    text = profile.read_text(encoding="utf-8")
    with client_of(kernel) as client:
        for content, side in ((text + "x: [\n", "after"), (text, "before")):
            profile.write_text(content, encoding="utf-8")
            kernel.reload()
            report = client.get(f"{ORG}/changes").json()["report"]
            assert report["incomparable"][0].startswith(f"{side}: role `scout` is out of service: ")
            assert not any("scout is" in each["sentence"] for each in report["changes"])
            assert not any(each["sentence"].startswith("scout ") for each in report["changes"])


def test_two_chosen_versions_are_compared(tree: Path) -> None:
    """The versions are listed, newest first, with the time of their end; any two are compared, in either direction."""
    kernel = Kernel.open(str(tree))
    profile = tree / "roles/scout.yaml"
    text = profile.read_text(encoding="utf-8")
    without = text.replace("    - {tool: issue_tracker, level: read}\n", "")
    with client_of(kernel) as client:
        for edited in (without, without.replace("search_engine", "query_metrics"), text):
            profile.write_text(edited, encoding="utf-8")
            kernel.reload()
        versions = client.get(f"{ORG}/changes").json()["versions"]
        assert [each["until"] is None for each in versions] == [True, False, False, False]
        ends = [each["until"] for each in versions[1:]]
        assert ends == sorted(ends, reverse=True)
        _, third, second, _ = (each["snapshot"] for each in versions)
        chosen = client.get(f"{ORG}/changes?before={third}&after={second}").json()
        assert (chosen["before"], chosen["after"], chosen["snapshot"]) == (
            third,
            second,
            versions[0]["snapshot"],
        )
        backwards = client.get(f"{ORG}/changes?before={second}&after={third}").json()["report"]
        assert {each["sentence"] for each in chosen["report"]["changes"]}.isdisjoint(
            each["sentence"] for each in backwards["changes"]
        )
        assert client.get(f"{ORG}/changes?after={second}").json()["before"] == versions[3]["snapshot"]
        problem(client.get(f"{ORG}/changes?before=sha256:{'0' * 64}"), 404, "UNKNOWN_VERSION")
        problem(client.get(f"{ORG}/changes?before=../../etc/passwd"), 422, "INVALID_REQUEST")


def test_few_earlier_versions_are_kept(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most a number of versions, and at most a number of roles in all of them together."""
    monkeypatch.setattr("orgkernel.kernel.registry.MAX_EARLIER_VERSIONS", 2)
    kernel = Kernel.open(str(tree))
    profile = tree / "roles/scout.yaml"
    text = profile.read_text(encoding="utf-8")

    def edit(number: int) -> None:
        profile.write_text(text.replace("description:", f"description: Edit {number}.", 1), encoding="utf-8")
        assert kernel.reload().updated == ("starship",)

    for number in range(4):
        edit(number)
    assert len(kernel.list_earlier("starship")) == 2
    roles = len(kernel.organization("starship").snapshot.records.posts)
    monkeypatch.setattr("orgkernel.kernel.registry.MAX_COMPARED_ROLES", roles)
    edit(4)
    assert len(kernel.list_earlier("starship")) == 1
    monkeypatch.setattr("orgkernel.kernel.registry.MAX_COMPARED_ROLES", roles - 1)
    edit(5)
    assert kernel.list_earlier("starship") == ()
    with client_of(kernel) as client:
        assert client.get(f"{ORG}/changes").json()["report"] is None
