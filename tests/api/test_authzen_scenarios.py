"""The official AuthZEN scenarios as written, against a running server: certification (Basic, Batch, Search), and Todo.

Source: openid/authzen, `certification/authorization-api-1_0-scenario.md` and
`interop/authzen-todo-backend/test/decisions-1.1-preview.json`. The test ids are those of the certification scenario.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orgkernel.kernel.kernel import Kernel
from tests.api.asking import client_of
from tests.api.running import Server, running
from tests.support.trees import copy_template

FOLDER = Path(__file__).parent / "authzen"
ALICE, BOB = {"type": "user", "id": "alice"}, {"type": "user", "id": "bob"}
ADMIN = {**BOB, "properties": {"role": "admin"}}
READ, WRITE = {"name": "read"}, {"name": "write"}
RECORD_1, RECORD_2 = {"type": "record", "id": "record-1"}, {"type": "record", "id": "record-2"}
ACTIVE = {**RECORD_1, "properties": {"status": "active"}}
ARCHIVED = {**RECORD_2, "properties": {"status": "archived"}}
USER, RECORD = {"type": "user"}, {"type": "record"}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the certification fixture."""
    with running(tmp_path_factory.mktemp("records"), FOLDER / "records") as server:
        yield server


@pytest.fixture(scope="module")
def todo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the Todo fixture."""
    with running(tmp_path_factory.mktemp("todo"), FOLDER / "todo") as server:
        yield server


def question(subject: Any, action: Any, resource: Any, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "action": action, "resource": resource, **more}


def delete(**properties: Any) -> dict[str, Any]:
    return {"name": "delete", "properties": properties}


def ask(server: Server, path: str, body: Any, status: int = 200) -> Any:
    response = server.client.post(f"/access/v1/{path}", json=body)
    assert response.status_code == status, response.text
    if status == 200:
        assert response.headers["content-type"] == "application/json"
    return response.json()


def decisions(found: Any) -> list[bool]:
    return [each["decision"] for each in found["evaluations"]]


EVALUATIONS = {
    "2.2.1": (question(ALICE, READ, RECORD_1), True),
    "2.2.2": (question(BOB, WRITE, RECORD_1), False),
    "2.2.3": (
        question(ALICE, READ, RECORD_1, context={"time": "2025-06-27T18:03-07:00", "ip": "192.168.1.1"}),
        True,
    ),
    "2.2.4": (question(ALICE, WRITE, ARCHIVED), False),
    "2.2.5": (question(ADMIN, WRITE, ARCHIVED), True),
    "2.2.6": (question(ALICE, delete(soft=True), RECORD_1), True),
    "2.2.7": (question(ALICE, delete(soft=False), RECORD_1), False),
    "2.2.8": (
        question(
            {**ALICE, "properties": {"department": "Sales", "role": "manager"}},
            {**READ, "properties": {"method": "GET"}},
            {**RECORD_1, "properties": {"status": "active", "owner": "bob"}},
        ),
        True,
    ),
    "2.2.9": (question(ALICE, READ, RECORD_1, foo="bar", futureField={"nested": True}), True),
    "rule 2": (question(ALICE, WRITE, RECORD_1), True),
    "rule 3": (question(BOB, READ, RECORD_1), True),
}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_evaluation_is_decided_as_the_scenario_says(records: Server, name: str) -> None:
    """Every decision that the certification validates, three times each (test 2.6)."""
    body, expected = EVALUATIONS[name]
    assert [ask(records, "evaluation", body)["decision"] for _ in range(3)] == [expected] * 3


MALFORMED = {
    "no subject": {"action": READ, "resource": RECORD_1},
    "no action": {"subject": ALICE, "resource": RECORD_1},
    "no resource": {"subject": ALICE, "action": READ},
    "no subject type": question({"id": "alice"}, READ, RECORD_1),
    "no subject id": question(USER, READ, RECORD_1),
    "no action name": question(ALICE, {}, RECORD_1),
    "no resource type": question(ALICE, READ, {"id": "record-1"}),
    "no resource id": question(ALICE, READ, RECORD),
    "subject is text": question("alice", READ, RECORD_1),
    "name is a number": question(ALICE, {"name": 123}, RECORD_1),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_evaluation_is_a_bad_request(records: Server, name: str) -> None:
    """Tests 2.4.1, 2.4.2 and 2.4.6."""
    assert ask(records, "evaluation", MALFORMED[name], 400)["code"] == "BAD_EVALUATION"


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b'{"subject": 1}', "text/plain"),
        (b'{"subject": 1}', "application/x-www-form-urlencoded"),
        (b"{", "application/json"),
        (b"", "application/json"),
        (b"", ""),
    ],
)
@pytest.mark.parametrize(
    "path", ["evaluation", "evaluations", "search/subject", "search/resource", "search/action"]
)
def test_what_is_no_json_is_a_bad_request(
    records: Server, path: str, content: bytes, media_type: str
) -> None:
    """Tests 2.4.3, 2.4.4 and 2.4.5, on every route of the standard."""
    headers = {"content-type": media_type, "x-request-id": "id-1"}
    response = records.client.post(f"/access/v1/{path}", content=content, headers=headers)
    assert (response.status_code, response.headers["x-request-id"]) == (400, "id-1")


def test_the_request_id_comes_back(records: Server) -> None:
    """Tests 2.5.1 and 2.5.2: any text a header can hold, also with an error, and none without one."""
    body = question(ALICE, READ, RECORD_1)
    for name in ("bfe9eb29-ab87-4ca3-be83-a1d5d8305716", "a b\tc", "é", "x" * 1000):
        headers = {"x-request-id": name.encode("latin-1")}
        for sent in (body, {}):
            response = records.client.post("/access/v1/evaluation", json=sent, headers=headers)
            assert response.headers.get("x-request-id", "").encode("latin-1") in (
                name.encode("latin-1"),
                name.encode(),
            )
    ids = {records.client.post("/access/v1/evaluation", json=body).headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3


BATCHES = {
    "3.2.1": ({"subject": ALICE, "action": READ, "evaluations": [{"resource": RECORD_1}, {"resource": RECORD_2}]},
              [True, True]),
    "3.2.2": ({"subject": BOB, "resource": RECORD_1, "evaluations": [{"action": READ}, {"action": WRITE}]},
              [True, False]),
    "3.2.3": ({"subject": ALICE, "action": WRITE, "evaluations": [{"resource": ACTIVE}, {"resource": ARCHIVED}]},
              [True, False]),
    "3.2.4": ({"action": WRITE, "resource": ARCHIVED, "evaluations": [{"subject": ALICE}, {"subject": ADMIN}]},
              [False, True]),
    "3.2.5": ({"evaluations": [question(ALICE, READ, RECORD_1), question(BOB, WRITE, RECORD_1)]}, [True, False]),
    "3.2.6": ({"subject": ALICE, "action": READ, "context": {"time": "2025-06-27T18:03-07:00"},
               "evaluations": [{"resource": RECORD_1},
                               {"resource": RECORD_2, "context": {"time": "2025-06-27T19:00-07:00", "source": "x"}}]},
              [True, True]),
    "3.2.7": ({"subject": ALICE, "action": WRITE, "resource": RECORD,
               "evaluations": [{"resource": {"id": "record-1", "properties": {"status": "active"}}},
                               {"resource": ARCHIVED}]}, [True, False]),
    "3.4.1": ({"subject": ALICE, "action": READ, "evaluations": [{"resource": RECORD_1}, {}]}, [True, False]),
}  # fmt: skip


@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_is_decided_as_the_scenario_says(records: Server, name: str) -> None:
    """One answer for each question, in order (tests 3.2 and 3.3)."""
    body, expected = BATCHES[name]
    found = ask(records, "evaluations", body)
    assert (decisions(found), "decision" in found) == (expected, False)


@pytest.mark.parametrize("more", [{}, {"evaluations": []}])
def test_without_several_questions_there_is_one(records: Server, more: dict[str, Any]) -> None:
    """Tests 3.4.2 and 3.4.3."""
    assert ask(records, "evaluations", question(ALICE, READ, RECORD_1, **more))["decision"] is True


@pytest.mark.parametrize(
    "item",
    [
        5, None, [], "x", {"resource": "record-1"}, {"resource": {"type": "record"}}, {"resource": {"id": 1}},
        {"resource": RECORD_1, "action": {"name": 1}}, {"resource": RECORD_1, "context": []},
        {"resource": RECORD_1, "context": {"channel": 5}}, {"resource": RECORD_1, "subject": {"type": ""}},
        {"resource": RECORD_1, "context": {"org": "nowhere"}},
    ],
)  # fmt: skip
def test_a_malformed_question_fails_alone(records: Server, item: Any) -> None:
    """The others are answered, and its context says what is wrong (AuthZEN 1.0, "Errors")."""
    body = {
        "subject": ALICE,
        "action": READ,
        "evaluations": [{"resource": RECORD_1}, item, {"resource": RECORD_2}],
    }
    found = ask(records, "evaluations", body)
    assert decisions(found) == [True, False, True]
    error = found["evaluations"][1]["context"]["error"]
    assert (error["status"] in (400, 404), bool(error["message"])) == (True, True)


@pytest.mark.parametrize(
    ("semantic", "expected"),
    [
        ("execute_all", [True, False, True, False]),
        ("deny_on_first_deny", [True, False]),
        ("permit_on_first_permit", [True]),
    ],
)
def test_a_batch_stops_where_its_semantic_says(records: Server, semantic: str, expected: list[bool]) -> None:
    """A malformed question counts as denied."""
    items = [{"resource": RECORD_1}, {}, {"resource": RECORD_2}, {"resource": {"type": "x", "id": "y"}}]
    options = {"evaluations_semantic": semantic, "another_option": 1}
    body = {"subject": ALICE, "action": READ, "evaluations": items, "options": options}
    assert decisions(ask(records, "evaluations", body)) == expected


@pytest.mark.parametrize(
    "wrong",
    [
        {"options": {"evaluations_semantic": "any"}},
        {"options": 1},
        {"evaluations": {"1": {}}},
        {"subject": "alice"},
        {"evaluations": [{"resource": RECORD_1}] * 101},
    ],
)
def test_a_batch_that_is_wrong_as_a_whole_is_a_bad_request(records: Server, wrong: dict[str, Any]) -> None:
    """What every question would share, and more questions than are answered at once."""
    body = {"subject": ALICE, "action": READ, "evaluations": [{"resource": RECORD_1}], **wrong}
    ask(records, "evaluations", body, 400)


def test_too_many_questions_say_how_many_there_may_be(records: Server) -> None:
    """A batch of more than 100 questions is refused, and the message states the limit."""
    body = {"subject": ALICE, "action": READ, "evaluations": [{"resource": RECORD_1}] * 101}
    found = ask(records, "evaluations", body, 400)
    assert "100" in found["errors"][0]["message"]


SEARCHES = {
    "4.2.1": ("subject", question(USER, READ, RECORD_1), [ALICE, BOB, {"type": "user", "id": "carol"}]),
    "4.2.2": ("subject", question(USER, READ, RECORD_1, context={"time": "2025-06-27T18:03-07:00"}),
              [ALICE, BOB, {"type": "user", "id": "carol"}]),
    "4.2.4": ("subject", question(USER, WRITE, ARCHIVED), [BOB]),
    "4.3.1": ("resource", question(ALICE, READ, RECORD), [RECORD_1, RECORD_2]),
    "4.3.3": ("resource", question(ADMIN, WRITE, RECORD), [RECORD_2]),
    "4.4.1": ("action", {"subject": ALICE, "resource": RECORD_1},
              [{"name": "read"}, {"name": "write"}, {"name": "soft_delete"}]),
    "4.4.2": ("action", {"subject": ALICE, "resource": RECORD_1, "context": {"ip": "::1"}},
              [{"name": "read"}, {"name": "write"}, {"name": "soft_delete"}]),
    "4.4.3": ("action", {"subject": ADMIN, "resource": ARCHIVED},
              [{"name": "read"}, {"name": "write"}, {"name": "soft_delete"}]),
    "4.6.1": ("action", {"subject": {"type": "user", "id": "nonexistent-user"}, "resource": RECORD_1}, []),
    "4.6.2": ("subject", question({"type": "spaceship"}, READ, RECORD_1), []),
    "an unknown resource": ("subject", question(USER, READ, {"type": "record", "id": "record-9"}), []),
    "an unknown resource type": ("resource", question(ALICE, READ, {"type": "spaceship"}), []),
    "our own words": ("resource", question({"type": "agent", "id": "alice"}, READ, {"type": "tool"}),
                      [{"type": "tool", "id": "record-1"}, {"type": "tool", "id": "record-2"}]),
}  # fmt: skip


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_finds_what_the_scenario_says(records: Server, name: str) -> None:
    """Results are in the words of the question; unknown names find nothing, and are no error."""
    path, body, expected = SEARCHES[name]
    found = ask(records, f"search/{path}", body)
    assert (found["results"], found["page"]["next_token"]) == (expected, "")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("subject", {"subject": USER, "resource": RECORD_1}),
        ("resource", {"action": READ, "resource": RECORD}),
        ("action", {"subject": ALICE}),
        ("subject", question(USER, READ, RECORD)),
        ("resource", question(USER, READ, RECORD)),
        ("subject", question(USER, READ, RECORD_1, page={"limit": -1})),
        ("subject", question(USER, READ, RECORD_1, page={"limit": 1.5})),
        ("subject", question(USER, READ, RECORD_1, page=1)),
    ],
)
def test_a_malformed_search_is_a_bad_request(records: Server, path: str, body: Any) -> None:
    """Test 4.7."""
    ask(records, f"search/{path}", body, 400)


def test_pages_of_a_search(records: Server) -> None:
    """Tests 4.5: the limit is repeated or left out, and every subject comes once."""
    body = question(USER, READ, RECORD_1)
    for follow in ({}, {"limit": 1}):
        found, page = [], {"limit": 1}
        while True:
            answer = ask(records, "search/subject", {**body, "page": page})
            found += [each["id"] for each in answer["results"]]
            assert (answer["page"]["count"], answer["page"]["total"]) == (1, 3)
            if not answer["page"]["next_token"]:
                break
            page = {"token": answer["page"]["next_token"], **follow}
        assert found == ["alice", "bob", "carol"]


def test_a_limit_of_zero_only_counts(records: Server) -> None:
    """The limit is a non-negative integer; no token follows, so that who follows tokens comes to an end."""
    body = question(USER, READ, RECORD_1)
    answer = ask(records, "search/subject", {**body, "page": {"limit": 0}})
    assert (answer["results"], answer["page"]["count"], answer["page"]["total"]) == ([], 0, 3)
    assert not answer["page"]["next_token"]
    nobody = ask(records, "search/subject", {**body, "subject": {"type": "spaceship"}, "page": {"limit": 0}})
    assert nobody["page"] == {"next_token": "", "count": 0, "total": 0}


def test_a_token_continues_its_own_search_alone(records: Server) -> None:
    """Another question or another limit cannot be read; a limit that no page has is lowered."""
    body = question(USER, READ, RECORD_1)
    token = ask(records, "search/subject", {**body, "page": {"limit": 1}})["page"]["next_token"]
    for other in (
        {**body, "action": WRITE, "page": {"token": token}},
        {**body, "page": {"token": token, "limit": 2}},
        {**body, "page": {"token": f"{token}0"}},
        {**body, "page": {"token": "nonsense"}},
        {**body, "page": {"token": token.rpartition("-")[0] + "-0"}},
    ):
        assert ask(records, "search/subject", other, 400)["code"] == "BAD_EVALUATION"
    assert ask(records, "search/subject", {**body, "page": {"limit": 1e6}})["page"]["count"] == 3


USERS = {
    "rick": ("CiRmZDA2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "rick@the-citadel.com"),
    "morty": ("CiRmZDE2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "morty@the-citadel.com"),
    "summer": ("CiRmZDI2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "summer@the-smiths.com"),
    "beth": ("CiRmZDM2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "beth@the-smiths.com"),
    "jerry": ("CiRmZDQ2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "jerry@the-smiths.com"),
}
TODO = "7240d0db-8ff0-41ec-98b2-34a096273b9f"
# For each role: may it create, update and delete what another user owns, and what it owns itself?
EXPECTED = {"rick": (True, True, True), "morty": (True, False, True), "summer": (True, False, True),
            "beth": (False, False, False), "jerry": (False, False, False)}  # fmt: skip


def todo_rows(name: str) -> list[tuple[str, dict[str, Any], bool]]:
    """The questions of the interoperability scenario about one user, and what they are answered."""
    own = USERS[name][1]
    other = USERS["morty" if name == "rick" else "rick"][1]
    creates, others, mine = EXPECTED[name]

    def owned(owner: str) -> dict[str, Any]:
        return {"type": "todo", "id": TODO, "properties": {"ownerID": owner}}

    return [
        ("can_read_user", {"type": "user", "id": "beth@the-smiths.com"}, True),
        ("can_read_user", {"type": "user", "id": own}, True),
        ("can_read_todos", {"type": "todo", "id": "todo-1"}, True),
        ("can_create_todo", {"type": "todo", "id": "todo-1"}, creates),
        ("can_update_todo", owned(other), others),
        ("can_update_todo", owned(own), mine),
        ("can_delete_todo", owned(other), others),
        ("can_delete_todo", owned(own), mine),
    ]


@pytest.mark.parametrize("name", USERS)
def test_todo_is_decided_as_the_scenario_says(todo: Server, name: str) -> None:
    """One by one and several at once, by each of the two ids of a user."""
    rows = todo_rows(name)
    for each in USERS[name]:
        subject = {"type": "user", "id": each}
        for action, resource, expected in rows:
            found = ask(todo, "evaluation", question(subject, {"name": action}, resource))
            assert found["decision"] is expected, (action, resource)
        items = [{"action": {"name": action}, "resource": resource} for action, resource, _ in rows]
        found = ask(todo, "evaluations", {"subject": subject, "evaluations": items})
        assert decisions(found) == [expected for _, _, expected in rows]


def test_ownership_that_is_not_stated_opens_nothing(todo: Server) -> None:
    """If the owner property is missing, has another type or names an unknown owner, the request is decided as one about
    a resource of another owner.
    """
    morty = {"type": "user", "id": USERS["morty"][0]}
    for properties in (
        {},
        {"ownerID": 1},
        {"ownerID": None},
        {"ownerID": "nobody"},
        {"owner": USERS["morty"][1]},
    ):
        resource = {"type": "todo", "id": TODO, "properties": properties}
        found = ask(todo, "evaluation", question(morty, {"name": "can_update_todo"}, resource))
        assert found["decision"] is False
    stranger = {"type": "user", "id": "nobody"}
    resource = {"type": "todo", "id": TODO, "properties": {"ownerID": "nobody"}}
    assert (
        ask(todo, "evaluation", question(stranger, {"name": "can_update_todo"}, resource))["decision"]
        is False
    )


def test_searches_speak_of_todo_in_its_own_words(todo: Server) -> None:
    """Users have their first id again, actions their names; the items themselves are not known to the registry."""
    subject = {"type": "user", "id": USERS["morty"][0]}
    mine = {"type": "todo", "id": TODO, "properties": {"ownerID": USERS["morty"][1]}}
    found = ask(todo, "search/action", {"subject": subject, "resource": mine})
    names = [each["name"] for each in found["results"]]
    assert {"can_read_todos", "can_create_todo", "can_update_todo", "can_delete_todo"} <= set(names)
    other = {"type": "todo", "id": TODO, "properties": {"ownerID": USERS["rick"][1]}}
    found = ask(todo, "search/action", {"subject": subject, "resource": other})
    assert not {"can_update_todo", "can_delete_todo"} & {each["name"] for each in found["results"]}
    body = question({"type": "user"}, {"name": "can_create_todo"}, {"type": "todo", "id": "todo-1"})
    found = ask(todo, "search/subject", body)
    assert found["results"] == [
        {"type": "user", "id": USERS[name][0]} for name in ("rick", "morty", "summer")
    ]
    found = ask(todo, "search/resource", question(subject, {"name": "can_read_todos"}, {"type": "todo"}))
    assert found["results"] == []


def test_a_call_of_mcp_is_asked_in_its_own_words(tmp_path: Path) -> None:
    """`tools/call` is evaluated by the default mapping of the draft COAZ-MCP. A method without a mapping is denied."""
    folder = copy_template(tmp_path / "home", "household")
    document = folder / "org.yaml"
    words = "authzen:\n  types:\n    subjects:\n      identity: {kind: agent}\n    actions:\n      tools/call:\n        - {action: use}\n"
    document.write_text(document.read_text(encoding="utf-8") + words, encoding="utf-8")
    kernel = Kernel.open(folder)
    assert [found.message for found in kernel.check() if found.severity.value == "error"] == []
    identity, call = {"type": "identity", "id": "clerk"}, {"name": "tools/call"}
    with client_of(kernel) as client:
        for tool, method, allowed in (
            ("response", call, True), ("send_email", call, False), ("response", {"name": "prompts/get"}, False),
        ):  # fmt: skip
            asked = question(
                identity, method, {"type": "tool", "id": tool}, context={"agent": "https://agent"}
            )
            answer = client.post("/access/v1/evaluation", json=asked).json()
            assert answer["decision"] is allowed, (tool, answer)
            assert "agent" in answer["context"]["ignored"]
