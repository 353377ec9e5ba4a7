"""Dispatch of a sentence that follows another: the same answer from the kernel, HTTP and the command line."""

from __future__ import annotations

import json

import msgspec
import pytest
from fastapi.testclient import TestClient

from manifest_api import create_app
from orgkernel import Kernel
from orgkernel.decisions.dispatch.follow_up import decide_follow_up
from orgkernel.decisions.dispatch.task_state import PreviousTask
from tests.support.in_process import run_here

ORG = "software_dev"
FIRST = PreviousTask(
    role_id="codegen_specialist", texts=("Write a Python function that parses dates",), domain="codegen"
)
ROLES = """\
_schema: orgkernel:organization
org_id: shop
layers: [top, middle, bottom]
dispatch_edges: [{from: top, to: middle}, {from: middle, to: bottom}]
hierarchy:
  head: {subordinates: [workshop, street]}
  workshop: {subordinates: [painter]}
  street: {subordinates: [courier]}
---
{_schema: "orgkernel:role_profile", role_id: head, role_type: commander, layer: top, description: Leads the shop.}
---
{_schema: "orgkernel:role_profile", role_id: workshop, role_type: executive, layer: middle, description: Leads the workshop.}
---
{_schema: "orgkernel:role_profile", role_id: street, role_type: executive, layer: middle, description: Leads the bicycles.}
---
{_schema: "orgkernel:role_profile", role_id: painter, layer: bottom, description: Paints walls and facades.}
---
{_schema: "orgkernel:role_profile", role_id: courier, layer: bottom, description: Delivers parcels by bicycle.}
"""
CASES = [
    ("and the tests?", "codegen_specialist", "ABOUT_THE_WORK", "open"),
    ("Now commit it and push the branch", "devops_specialist", "HANDED_ON", "open"),
    ("Search the web for prices of vector databases", "osint_specialist", "OTHER_WORK", "open"),
    ("How are you today?", "codegen_specialist", "SMALL_TALK", "paused"),
    ("thanks, that is all", None, "TASK_CLOSED", "ended"),
]


EVERYDAY = [
    ("make a REST endpoint", "codegen_specialist"),
    ("go to github.com/agent0ai/agent-zero and tell me how many stars it has", "osint_specialist"),
    ("explain recursion to me", "analysis_specialist"),
    ("translate this to German: the crash happened because the disk was full", None),
    ("Behebe den Fehler in parser.py", "bugfix_specialist"),
]


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    """The shipped organizations."""
    return Kernel.open()


@pytest.mark.parametrize(("text", "role_id", "code", "state"), CASES)
def test_a_follow_up_is_answered_alike_on_every_surface(kernel, tmp_path, text, role_id, code, state):
    """The kernel, HTTP and the command line name the same role, reason and task."""
    decision = kernel.dispatch(ORG, text=text, previous=FIRST)
    assert (decision.role_id, decision.reasons[0].code) == (role_id, code)
    assert decision.task is not None
    assert decision.task.state == state
    body = {"text": text, "context": {"previous": msgspec.to_builtins(FIRST)}}
    with TestClient(create_app(kernel), base_url="http://127.0.0.1", client=("127.0.0.1", 1)) as client:
        answer = client.post(f"/v1/orgs/{ORG}/dispatch", json=body).json()
    file = tmp_path / "previous.json"
    file.write_bytes(msgspec.json.encode(FIRST))
    arguments = ["dispatch", "--org", ORG, "--text", text, "--previous", str(file), "--format", "json"]
    printed = json.loads(run_here(*arguments, cwd=tmp_path).stdout)
    for each in (answer, printed):
        assert (each["role_id"], each["reasons"][0]["code"]) == (role_id, code)
        assert each["task"]["state"] == state
        assert each["task"]["texts"] == list(decision.task.texts)


@pytest.mark.parametrize(("text", "role_id"), EVERYDAY)
def test_everyday_messages_find_their_role_or_none(kernel, text, role_id):
    """What is made, where something is and what is translated are not mistaken for the work."""
    assert kernel.dispatch(ORG, text=text).role_id == role_id


def test_each_answer_is_the_previous_one_of_the_next_message(kernel, tmp_path):
    """The command line reads its own answers, also the first, which has no task yet."""
    file, roles = tmp_path / "answer.json", []
    for text in (
        FIRST.texts[0],
        "and the tests?",
        "by the way, how are you?",
        "continue",
        "thanks, that is all",
    ):
        previous = ["--previous", str(file)] if roles else []
        arguments = ["dispatch", "--org", ORG, "--text", text, *previous, "--format", "json"]
        answer = json.loads(run_here(*arguments, cwd=tmp_path).stdout)
        file.write_text(json.dumps(answer), encoding="utf-8")
        roles.append(answer["role_id"])
    assert roles == [*["codegen_specialist"] * 4, None]


def test_a_role_without_a_needed_tool_does_not_keep_the_task(kernel):
    """The answer names the tool."""
    decision = kernel.dispatch(ORG, text="and the tests?", previous=FIRST, needs=["scheduler"])
    assert (decision.outcome, [reason.code for reason in decision.reasons]) == (
        "not_applicable",
        ["ABOUT_THE_WORK", "NO_ROLE_EQUIPPED"],
    )


def test_an_undeclared_previous_role_is_ignored_with_a_reason(kernel):
    """The sentence is answered by itself."""
    decision = kernel.dispatch(
        ORG,
        text="Restart the docker container",
        previous=msgspec.structs.replace(FIRST, role_id="nobody_here"),
    )
    assert (decision.role_id, decision.reasons[0].code) == ("devops_specialist", "PREVIOUS_ROLE_UNKNOWN")
    assert decision.task is None


def test_a_task_stays_where_no_commander_may_hand_it_on(tmp_path):
    """The right is the one that `can` answers, hop by hop: the head may hand work only to executives."""
    (tmp_path / "org.yaml").write_text(ROLES, encoding="utf-8")
    kernel = Kernel.open(tmp_path)
    previous = PreviousTask(role_id="painter", texts=("Paint the walls of the parcel room",))
    text = "Now deliver the parcels by bicycle"
    decision = kernel.dispatch("shop", text=text, previous=previous)
    assert (decision.role_id, decision.reasons[0].code) == ("courier", "HANDED_ON")
    view = kernel.access("shop").view
    kept = decide_follow_up(view, text, previous, 0.0, lambda sender, receiver: receiver != "courier")
    assert (kept.role_id, kept.reasons[0].code) == ("painter", "MOVE_REFUSED")
    assert "role `head` may not hand work to role `courier`" in kept.reasons[0].text


@pytest.mark.parametrize("content", ["", "[]", '{"role_id": "co"}', '{"asked": "x", "task": 3}'])
def test_a_file_without_a_previous_answer_is_refused_with_a_way_out(tmp_path, content):
    """Empty, of another form, or incomplete."""
    file = tmp_path / "previous.json"
    file.write_text(content, encoding="utf-8")
    result = run_here("dispatch", "--org", ORG, "--text", "go on", "--previous", file, cwd=tmp_path)
    assert result.returncode == 2
    assert "has no previous task" in result.stderr
    assert "--format json" in result.stderr


def test_a_previous_task_is_only_for_a_sentence(kernel, tmp_path):
    """A domain or an intent states the task in full."""
    with pytest.raises(TypeError, match="only with `text`"):
        kernel.dispatch(ORG, "bugfix", previous=FIRST)
    body = {"domain": "bugfix", "context": {"previous": msgspec.to_builtins(FIRST)}}
    with TestClient(create_app(kernel), base_url="http://127.0.0.1", client=("127.0.0.1", 1)) as client:
        response = client.post(f"/v1/orgs/{ORG}/dispatch", json=body)
    assert response.is_client_error
    assert response.json()["errors"][0]["where"] == "body/context/previous"
    refused = run_here("dispatch", "bugfix", "--org", ORG, "--previous", tmp_path, cwd=tmp_path)
    assert refused.returncode == 2
