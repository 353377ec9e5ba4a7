"""What an AuthZEN question says and nothing reads is named in the answer, whichever route it is asked by."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

SUBJECT = {"type": "role", "id": "codegen_specialist"}
ACTION = {"name": "use"}
RESOURCE = {"type": "tool", "id": "text_editor"}
QUESTION = {"subject": SUBJECT, "action": ACTION, "resource": RESOURCE}
ORG = {"context": {"org": "software_dev"}}


def saying(entity: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return {**entity, "properties": properties}


def ask(client: TestClient, path: str, question: dict[str, Any]) -> Any:
    response = client.post(f"/access/v1/{path}", json={**ORG, **question})
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize("path", ["evaluation", "evaluations"])
def test_properties_of_every_part_are_named(client: TestClient, path: str) -> None:
    """In the order subject, action, resource, after what the context says in vain; the decision is the same."""
    plain = ask(client, path, QUESTION)
    said = {
        "context": {**ORG["context"], "mood": "good"},
        "subject": saying(SUBJECT, department="hq", rank="commander"),
        "action": saying(ACTION, mode="dry"),
        "resource": saying(RESOURCE, owner="me"),
    }
    found = ask(client, path, said)
    assert found["context"].pop("ignored") == [
        "mood", "subject.properties.department", "subject.properties.rank", "action.properties.mode",
        "resource.properties.owner",
    ]  # fmt: skip
    assert "ignored" not in plain["context"]
    assert (found["decision"], found["context"]["codes"]) == (plain["decision"], plain["context"]["codes"])


def test_each_of_several_questions_names_its_own(client: TestClient) -> None:
    """A part that is taken from above is a part of every question that takes it."""
    question = {
        "subject": saying(SUBJECT, department="hq"),
        "action": ACTION,
        "evaluations": [
            {"resource": saying(RESOURCE, owner="me")},
            {"resource": RESOURCE, "subject": SUBJECT},
        ],
    }
    found = ask(client, "evaluations", question)["evaluations"]
    assert [each["context"].get("ignored") for each in found] == [
        ["subject.properties.department", "resource.properties.owner"],
        None,
    ]


@pytest.mark.parametrize(
    ("path", "question", "ignored"),
    [
        (
            "search/subject",
            {**QUESTION, "subject": {"type": "role", "id": "x", "properties": {"rank": 1}}},
            ["subject.properties.rank", "subject.id"],
        ),
        (
            "search/resource",
            {**QUESTION, "resource": {"type": "tool", "id": "x"}, "action": saying(ACTION, mode="dry")},
            ["action.properties.mode", "resource.id"],
        ),
        (
            "search/action",
            {"subject": saying(SUBJECT, rank=1), "resource": saying(RESOURCE, owner="me")},
            ["subject.properties.rank", "resource.properties.owner"],
        ),
    ],
)
def test_searches_name_them_too(
    client: TestClient, path: str, question: dict[str, Any], ignored: list[str]
) -> None:
    """And the id of what is searched for, which the standard has them ignore."""
    assert ask(client, path, question)["context"]["ignored"] == ignored


@pytest.mark.parametrize("path", ["/access/v1/search/subject", "/v1/orgs/software_dev/who-can"])
def test_a_subject_search_ignores_the_principal(client: TestClient, path: str) -> None:
    """A search for subjects ignores `via` and `on_behalf_of`, and lists them as ignored."""
    context = {"via": ["role:co"], "on_behalf_of": "role:co", "channel": "slack"}
    if path == "/v1/orgs/software_dev/who-can":
        question = {
            "action": "use",
            "resource": "tool:text_editor",
            "context": context,
        }
        found = client.post(path, json=question).json()
    else:
        question = {**QUESTION, "subject": {"type": "role"}, "context": {**ORG["context"], **context}}
        found = client.post(path, json=question).json()["context"]
    assert found["ignored"] == ["on_behalf_of", "via"]
