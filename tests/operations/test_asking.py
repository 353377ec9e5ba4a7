"""The request for one call, and its approval: for that call, once, and only while the documents stay as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.tool_input import find_digest
from orgkernel.decisions.evidence.state_records import PermissionRequest
from orgkernel.errors import Conflict, Refused, TooManyRequests
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.asking import file_request_for_call
from orgkernel.operations.context import Actor, Context, build_actor
from orgkernel.operations.permissions import (
    GrantDraft,
    RequestDraft,
    approve,
    ask,
    deny,
    issue_grant,
    wake_grant,
)
from orgkernel.state.location import StoreLocation
from orgkernel.state.store import Store
from tests.api.asking import stored_client
from tests.api.keys import bearer, new_key
from tests.mcp.calling import asker_of, calling_as
from tests.operations.surfaces import place_in
from tests.state.opening import Clock, opened
from tests.support.in_process import run_here
from tests.support.trees import write_tree

FILES = {
    "shop/org.yaml": '{_schema: "orgkernel:organization", org_id: shop, hierarchy: {co: {subordinates: [scout]}, scout: {}}}\n',
    "shop/roles/co.yaml": """
        {_schema: "orgkernel:role_profile", role_id: co, role_type: commander, capabilities: {tools_primary: [radio, shell, torch]},
         may_grant: [{tool: torch, level: full}]}
    """,
    "shop/roles/scout.yaml": '{_schema: "orgkernel:role_profile", role_id: scout}\n',
    "shop/tools.yaml": """
        _schema: orgkernel:tool_catalog
        tools:
          radio: {type: browser, actions: {listen: read, send: write}}
          shell: {type: browser}
          torch: {type: browser, qualifications: [safety]}
    """,
    "shop/tests.yaml": '{_schema: "orgkernel:qualification_catalog", qualifications: {safety: {threshold: 0.8}}}\n',
    "shop/policies.yaml": """
        _schema: orgkernel:access_policies
        policies:
          ask-first: {effect: ask, match: {principal: {role: co}}, permissions: {tools: [shell]}}
    """,
    "shop/crew.yaml": """
        {_schema: "orgkernel:crew_roster", agents: {ann: {assignments: [{role: scout}]}, bea: {assignments: [{role: co}]}}}
    """,
}
ANN, OPERATOR = "agent:ann", Actor("system:cli")
INPUT = {"channel": 7, "text": "the password is swordfish"}


class Shop:
    """An organization with a store, whose documents can be edited."""

    def __init__(self, folder: Path, store: Store, clock: Clock, place: StoreLocation) -> None:
        self.folder, self.store, self.clock, self.place = folder, store, clock, place
        self.plain = Kernel.open(folder)

    @property
    def kernel(self) -> Kernel:
        """The documents as they were read last, with the store."""
        return self.plain.with_store(self.store, lambda: (self.clock(), 0))

    @property
    def digest(self) -> str:
        """The digest that answers name now."""
        return self.plain.organization("shop").snapshot.digest

    def edit(self, file: str = "tools.yaml", more: str = "# later\n") -> None:
        """A user edits a document."""
        path = self.folder / file
        path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
        self.plain.reload()

    def context(self, actor: str = ANN) -> Context:
        """The context in which an actor acts."""
        return Context(self.kernel, self.store, build_actor(actor))

    def decide(self, request: AccessRequest) -> AccessDecision:
        """The decision now."""
        return self.kernel.can("shop", request)

    def ask_for(self, request: AccessRequest, reason: str = "", actor: str = ANN) -> PermissionRequest:
        """The request for a call that was refused."""
        return file_request_for_call(self.context(actor), request, self.decide(request), reason)

    def approve(self, made: PermissionRequest, approval: Any = "once") -> Any:
        """The grant that an operator gives."""
        return approve(self.context("system:cli"), made.request_id, approval)[1]


def call(action: str = "send", tool: str = "radio", subject: str = ANN, **given: Any) -> AccessRequest:
    """A call with arguments."""
    return AccessRequest(subject, action, f"tool:{tool}", AccessContext(input=given or INPUT))


@pytest.fixture
def shop(quick_folder: Path) -> Iterator[Shop]:
    folder = write_tree(quick_folder, FILES) / "shop"
    clock, place = Clock(), place_in(quick_folder)
    with opened(place, clock) as store:
        yield Shop(folder, store, clock, place)


def test_the_request_of_a_call_is_for_that_call_alone(shop: Shop) -> None:
    """Its action, its input and the version of the documents, at the level that the action requires."""
    made = shop.ask_for(call(), "the weather")
    assert (made.requester, made.resources, made.kind, made.level, made.org_id, made.waives) == (
        ANN, ("tool:radio",), "action", "write", "shop", (),
    )  # fmt: skip
    assert (made.action, made.input_digest, made.snapshot) == ("send", find_digest(INPUT), shop.digest)
    assert (made.reason, made.status) == ("the weather", "pending")


def test_the_request_of_a_call_holds_none_of_its_values(shop: Shop) -> None:
    """The person who answers sees the names of the arguments; a name that is not an identifier is only counted."""
    made = shop.ask_for(call())
    assert made.summary == "send of tool:radio with `channel`, `text`"
    assert "swordfish" not in json.dumps(made.context) + made.summary + made.original_message
    odd = {"sword fish\n": 1, "x" * 41: 2, "to": 3}
    assert shop.ask_for(call(**odd)).summary == "send of tool:radio with `to` and 2 more"
    empty = AccessRequest(ANN, "send", "tool:radio", AccessContext(input={}))
    assert shop.ask_for(empty).summary == "send of tool:radio with no arguments"


def test_the_same_call_waits_for_the_same_request(shop: Shop) -> None:
    """However often it is tried, and past every limit of requests; another input is another request."""
    made = shop.ask_for(call())
    assert {shop.ask_for(call()).request_id for _ in range(10)} == {made.request_id}
    others = [shop.ask_for(call(channel=number)).request_id for number in range(4)]
    assert len({made.request_id, *others}) == 5
    with pytest.raises(TooManyRequests) as refusal:
        shop.ask_for(call(channel=5))
    assert refusal.value.code == "TOO_MANY_PENDING"
    assert shop.ask_for(call()) == made


def test_calls_at_the_same_time_wait_for_one_request(shop: Shop) -> None:
    """A simultaneous request for the same call finds the first one."""
    contexts = [shop.context() for _ in range(8)]
    decision = shop.decide(call())
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda context: file_request_for_call(context, call(), decision), contexts))
    assert len({each.request_id for each in made}) == len(shop.store.requests.list()) == 1


def test_a_call_that_was_denied_a_moment_ago_is_not_asked_for_again(shop: Shop) -> None:
    """It is told that it has to wait."""
    deny(shop.context("system:cli"), shop.ask_for(call()).request_id)
    with pytest.raises(TooManyRequests) as refusal:
        shop.ask_for(call())
    assert refusal.value.code == "REQUEST_COOLDOWN"
    shop.clock.now += 61
    assert shop.ask_for(call()).status == "pending"


def test_an_approval_permits_the_call_once(shop: Shop) -> None:
    """The grant has the bonds of the request; no other action or input is permitted by it."""
    grant = shop.approve(shop.ask_for(call()))
    assert (grant.action, grant.input_digest, grant.snapshot, grant.uses_left) == (
        "send", find_digest(INPUT), shop.digest, 1,
    )  # fmt: skip
    found = shop.decide(call())
    assert (found.outcome, found.obligations) == ("allow", (f"consume_grant:{grant.grant_id}",))
    assert [shop.decide(each).outcome for each in (call(channel=8), call("listen"))] == ["deny", "deny"]


def test_a_call_that_a_policy_asks_about_is_asked_for(shop: Shop) -> None:
    """At the level of the action; its approval answers the policy for this call, and for no other."""
    asked = call("use", "shell", "agent:bea")
    assert shop.decide(asked).outcome == "ask"
    made = shop.ask_for(asked, actor="agent:bea")
    assert (made.resources, made.level, made.action) == (("tool:shell",), "read", "use")
    shop.approve(made)
    assert shop.decide(asked).outcome == "allow"
    assert shop.decide(call("use", "shell", "agent:bea", text="other")).outcome == "ask"


@pytest.mark.parametrize("approval", ["once", "day", "always"])
def test_an_approval_ends_when_the_documents_are_edited(shop: Shop, approval: Any) -> None:
    """However it was given. The refusal names it and the way out, and the call can be asked for again at once."""
    grant = shop.approve(shop.ask_for(call()), approval)
    shop.edit()
    found = shop.kernel.why("shop", call())
    assert found.decision.outcome == "deny"
    assert [each.code for each in found.reasons][-1] == "GRANT_OUTDATED"
    assert found.reasons[-1].text == (
        f"grant `{grant.grant_id}` of `tool:radio` to `agent:ann` applies only to another version of the documents; "
        "request it again"
    )
    again = shop.ask_for(call())
    assert again.snapshot == shop.digest != grant.snapshot
    shop.approve(again)
    assert shop.decide(call()).outcome == "allow"


def test_an_edit_that_is_taken_back_brings_the_approval_back(shop: Shop) -> None:
    """It was given for exactly these documents; and an edit of something else than documents changes nothing."""
    shop.approve(shop.ask_for(call()), "always")
    before = (shop.folder / "tools.yaml").read_text(encoding="utf-8")
    shop.edit()
    assert shop.decide(call()).outcome == "deny"
    (shop.folder / "tools.yaml").write_text(before, encoding="utf-8")
    shop.plain.reload()
    assert shop.decide(call()).outcome == "allow"
    write_tree(shop.folder, {"notes.txt": "nothing of ours\n"})
    shop.plain.reload()
    assert shop.decide(call()).outcome == "allow"


def test_what_was_asked_for_before_an_edit_cannot_be_approved(shop: Shop) -> None:
    """It would give nothing. It can still be denied, and an answered request says that it has an answer."""
    made, other = shop.ask_for(call()), shop.ask_for(call(channel=8))
    shop.edit()
    with pytest.raises(Conflict) as refusal:
        shop.approve(made)
    assert refusal.value.code == "SNAPSHOT_CHANGED"
    assert shop.store.requests.get(made.request_id) == made
    assert deny(shop.context("system:cli"), other.request_id).status == "denied"
    with pytest.raises(Conflict) as refusal:
        shop.approve(other)
    assert refusal.value.code == "NOT_PENDING"


def test_a_decision_from_before_an_edit_makes_no_request(shop: Shop) -> None:
    """Nor is anything given or woken for a version of the documents that is not served."""
    old = shop.decide(call())
    asleep = issue_grant(
        shop.context("system:cli"),
        GrantDraft(subject=ANN, resources=("tool:radio",), org_id="shop", snapshot=old.snapshot),
    )
    shop.store.grants.put_to_sleep([asleep.grant_id], actor="a", reason="tried")
    shop.edit()
    operator = shop.context("system:cli")
    words = {"resources": ("tool:radio",), "org_id": "shop", "snapshot": old.snapshot}
    for write in (
        lambda: file_request_for_call(shop.context(), call(), old),
        lambda: ask(shop.context(), RequestDraft(**words)),
        lambda: issue_grant(operator, GrantDraft(subject=ANN, **words)),
        lambda: wake_grant(operator, asleep.grant_id),
    ):
        with pytest.raises(Conflict) as refusal:
            write()
        assert refusal.value.code == "SNAPSHOT_CHANGED"
        assert shop.digest in refusal.value.help
    with pytest.raises(Refused) as everywhere:
        issue_grant(operator, GrantDraft(subject=ANN, **{**words, "org_id": "*", "snapshot": shop.digest}))
    assert everywhere.value.code == "NO_ORGANIZATION"


def test_what_no_grant_would_permit_is_not_asked_for(shop: Shop) -> None:
    """No request is filed for a call that is allowed, has no input, or names an undeclared tool."""
    for asked, code in (
        (call(tool="hammer"), "NOTHING_TO_ASK"),
        (call("paint"), "NOTHING_TO_ASK"),
        (call(subject="agent:bea"), "NOTHING_TO_ASK"),
        (AccessRequest(ANN, "send", "tool:radio"), "BAD_VALUE"),
        (call(text=float("nan")), "BAD_VALUE"),
    ):
        with pytest.raises(Refused) as refusal:
            shop.ask_for(asked, actor=asked.subject)
        assert refusal.value.code == code, asked
    assert shop.store.requests.list() == ()


def test_an_agent_requests_only_its_own_calls(shop: Shop) -> None:
    """The credential of an agent asks for that agent."""
    with pytest.raises(Refused) as refusal:
        shop.ask_for(call(), actor="agent:bea")
    assert refusal.value.code == "OTHER_REQUESTER"


def test_what_is_held_for_one_version_is_passed_on_for_that_version_only(shop: Shop) -> None:
    """A grant that ends with an edit cannot become one that does not."""
    held = issue_grant(
        shop.context("system:cli"),
        GrantDraft(
            subject="agent:bea",
            resources=("tool:torch",),
            waives=("qualification",),
            org_id="shop",
            snapshot=shop.digest,
        ),
    )
    with pytest.raises(Refused) as refusal:
        issue_grant(
            shop.context("agent:bea"), GrantDraft(subject=ANN, resources=("tool:torch",), org_id="shop")
        )
    assert refusal.value.code == "MAY_NOT_GRANT"
    assert (
        f"the grant `{held.grant_id}`, which is only for one version of the documents"
        in refusal.value.message
    )
    given = issue_grant(
        shop.context("agent:bea"),
        GrantDraft(subject=ANN, resources=("tool:torch",), org_id="shop", snapshot=shop.digest),
    )
    assert given.snapshot == shop.digest


def test_every_surface_gives_the_same_answer_before_and_after_an_edit(shop: Shop) -> None:
    """Checks and lists in both directions, by the kernel, HTTP, the command line and MCP."""
    grant = issue_grant(
        shop.context("system:cli"),
        GrantDraft(
            subject=ANN, resources=("tool:radio",), org_id="shop", snapshot=shop.digest, action="send"
        ),
    )
    key = new_key(shop.place, ["read"], agent="ann")
    assert set(answers(shop, key).values()) == {("allow", True, True)}
    shop.edit()
    assert set(answers(shop, key).values()) == {("deny", False, False)}
    told = run_here(*asked_by("why"), *where(shop), cwd=shop.folder).stdout
    assert f"grant `{grant.grant_id}` of `tool:radio` to `agent:ann` applies only to another version" in told


def asked_by(command: str) -> tuple[str, ...]:
    return command, ANN, "send", "tool:radio"


def where(shop: Shop) -> tuple[str, ...]:
    return "--path", str(shop.folder), "--store", str(shop.place.path)


def answers(shop: Shop, key: str) -> dict[str, tuple[str, bool, bool]]:
    """By surface: the outcome, and whether the subject's list and the list of those who can have it."""
    found = {}
    asked = AccessRequest(ANN, "send", "tool:radio")
    there = Kernel.open(shop.folder).with_store(shop.store, lambda: (shop.clock(), 0))
    rows, able = there.what_can("shop", ANN), there.who_can("shop", "send", "tool:radio")
    found["kernel"] = (
        there.can("shop", asked).outcome,
        any(row.resource == "tool:radio" and "send" in row.actions for row in rows),
        any(row.subject == ANN for row in able),
    )
    with stored_client(Kernel.open(shop.folder), shop.place) as client:
        subject, resource = {"type": "agent", "id": "ann"}, {"type": "tool", "id": "radio"}
        body = {"subject": subject, "action": {"name": "send"}, "resource": resource}

        def post(path: str, said: Any) -> Any:
            return client.post(f"/access/v1/{path}", json=said, headers=bearer(key)).json()

        resources = post("search/resource", {**body, "resource": {"type": "tool"}})["results"]
        subjects = post("search/subject", {**body, "subject": {"type": "agent"}})["results"]
        found["http"] = (
            post("evaluation", body)["context"]["outcome"],
            "radio" in [each["id"] for each in resources],
            "ann" in [each["id"] for each in subjects],
        )
    lists = [
        run_here(*words, *where(shop), "--format", "json", cwd=shop.folder).stdout
        for words in (asked_by("can"), ("what-can", ANN), ("who-can", "send", "tool:radio"))
    ]
    found["cli"] = (
        json.loads(lists[0])["outcome"],
        any(row["resource"] == "tool:radio" and "send" in row["actions"] for row in json.loads(lists[1])),
        any(row["subject"] == ANN for row in json.loads(lists[2])),
    )
    with calling_as(asker_of(Kernel.open(shop.folder), "shop", ANN, Path(shop.place.path).parent)) as calls:
        told = calls.ask("can", resource="tool:radio", action="send")["outcome"]
        mine = json.dumps(calls.ask("what_can"))
        found["mcp"] = (
            told,
            '"tool:radio"' in mine,
            ANN in calls.ask("who_can", resource="tool:radio", action="send")["allow"],
        )
    return found
