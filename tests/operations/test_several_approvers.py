"""Policies that require approvals of several different subjects: who counts, when, and who does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from orgkernel.cli.ask.access import render_decision
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.evidence.state_records import PermissionRequest
from orgkernel.decisions.evidence.state_view import EMPTY_STATE
from orgkernel.errors import Conflict, OrgkernelError, Refused
from orgkernel.exchange.agents.claude_code import export_claude_code
from orgkernel.exchange.cedar.export import export_cedar
from orgkernel.exchange.claude_code.compiling import compile_hook
from orgkernel.kernel.access import OrganizationAccess
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.approvals import describe_missing, find_needs
from orgkernel.operations.asking import file_request_for_call
from orgkernel.operations.context import Actor, Context, build_actor
from orgkernel.operations.permissions import (
    GrantDraft,
    RequestDraft,
    approve,
    ask,
    describe_request,
    issue_grant,
)
from orgkernel.state.store import Store
from tests.operations.surfaces import place_in
from tests.state.opening import Clock, opened
from tests.support.trees import write_tree

ORG = """\
_schema: orgkernel:organization
org_id: bank
hierarchy: {chief: {subordinates: [head, clerk]}}
---
_schema: orgkernel:tool_catalog
tools: {close: {type: remote_api, side_effects: destructive, names: {claude_code: Bash}}}
---
_schema: orgkernel:crew_roster
agents: {ada: {assignments: [{role: head}]}, bob: {assignments: [{role: head}]}, cas: {assignments: [{role: clerk}]}}
---
_schema: orgkernel:directory
people: {ann: {relationship: owner}, eva: {relationship: owner}, ben: {}}
---
_schema: orgkernel:access_policies
policies:
  two-close: {effect: ask, match: {principal: {role: clerk}}, permissions: {tools: [close]}, approvals: {count: 2}}
"""
FILES = {
    "bank/org.yaml": ORG,
    "bank/roles/chief.yaml": '{_schema: "orgkernel:role_profile", role_id: chief, role_type: executive}\n',
    "bank/roles/head.yaml": """
        {_schema: "orgkernel:role_profile", role_id: head, capabilities: {tools_primary: [close]}, may_grant: [{tool: close, level: full}]}
    """,
    "bank/roles/clerk.yaml": '{_schema: "orgkernel:role_profile", role_id: clerk, capabilities: {tools_primary: [close]}}\n',
}
CALL = AccessRequest("agent:cas", "use", "tool:close", AccessContext(input={"account": 7}))


class Bank:
    """An organization with a store, whose documents can be edited."""

    def __init__(self, folder: Path, store: Store, clock: Clock) -> None:
        self.folder, self.store, self.clock = folder, store, clock
        self.plain = Kernel.open(folder)

    @property
    def kernel(self) -> Kernel:
        return self.plain.with_store(self.store, lambda: (self.clock(), 0))

    def context(self, actor: Actor | str) -> Context:
        return Context(self.kernel, self.store, build_actor(actor) if isinstance(actor, str) else actor)

    def request(self, actor: Actor | str = "agent:cas") -> PermissionRequest:
        draft = RequestDraft(requester="agent:cas", resources=("tool:close",), level="full", org_id="bank")
        return ask(self.context(actor), draft)

    def approve(self, made: PermissionRequest, actor: Actor | str) -> PermissionRequest:
        return approve(self.context(actor), made.request_id)[0]

    def refuse(self, made: PermissionRequest, actor: Actor | str) -> OrgkernelError:
        with pytest.raises((Refused, Conflict)) as caught:
            self.approve(made, actor)
        return caught.value

    def key(self, name: str, agent: str | None = None, person: str | None = None) -> Actor:
        """The actor of a new key."""
        orgs = () if agent is None and person is None else ("bank",)
        key, _ = self.store.keys.create(
            name, ["approve"], created_by="test", agent_id=agent, person_id=person, org_ids=orgs
        )
        member = f"agent:{agent}" if agent else f"person:{person}" if person else ""
        runs = f"person:{person}" if agent and person else ""
        return Actor(f"caller:{key.key_id}", member, person=runs, orgs=key.bound_to)

    def missing(self, made: PermissionRequest) -> str:
        stored = self.store.requests.get(made.request_id)
        assert stored is not None
        return describe_missing(find_needs(self.context("system:cli"), stored))


@pytest.fixture
def bank(quick_folder: Path) -> Iterator[Bank]:
    folder = write_tree(quick_folder, FILES) / "bank"
    clock = Clock()
    with opened(place_in(quick_folder), clock) as store:
        yield Bank(folder, store, clock)


def test_the_last_approval_opens_the_call_and_names_its_approvers(bank: Bank) -> None:
    """Before it, the call is asked about, and a grant that one subject issues does not open it either."""
    made = file_request_for_call(bank.context("agent:cas"), CALL, bank.kernel.can("bank", CALL), org="bank")
    assert bank.missing(made) == "2 different approvers"
    assert bank.approve(made, "agent:ada").status == "pending"
    assert bank.missing(made) == "1 approver"
    (need,) = describe_request(bank.context("system:cli"), made.request_id).needs
    assert (need.policy, need.count, need.missing, need.approved_by) == ("two-close", 2, 1, ("agent:ada",))
    assert need.line == 16
    issue_grant(
        bank.context("system:cli"), GrantDraft(subject="agent:cas", resources=("tool:close",), org_id="bank")
    )
    why = bank.kernel.why("bank", CALL)
    assert why.decision.outcome == "ask"
    assert why.reasons[0].text == (
        "policy `two-close` requires an approval by 2 different approvers for tool `close`, and no grant has all these approvals"
    )
    assert bank.approve(made, "person:ann").status == "approved"
    decision = bank.kernel.can("bank", CALL)
    assert decision.outcome == "allow"
    (grant,) = (bank.store.grants.get(each) for each in decision.grants)
    assert grant is not None
    assert grant.approved_by == ("agent:ada", "person:ann")


def test_who_shares_a_principal_with_the_asker_does_not_approve(bank: Bank) -> None:
    """The person who runs the asking agent, her other agent, who filed the request, and for whom the run acts."""
    bank.key("cas", "cas", "ann")
    ada = bank.key("ada", "ada", "ann")
    made = bank.request()
    for actor in ("person:ann", ada, "agent:ada"):
        refusal = bank.refuse(made, actor)
        assert refusal.code == "SELF_GRANT", actor
        assert "`person:ann`" in refusal.message
    assert bank.approve(made, "person:eva").approvals[0].approver == "person:eva"
    bank.clock.now += 61
    filed = bank.request("system:cli")
    assert bank.refuse(filed, "system:cli").code == "SELF_GRANT"
    assert bank.refuse(filed, bank.key("operator")).code == "SELF_GRANT"
    acting = AccessRequest(CALL.subject, CALL.action, CALL.resource, CALL.context, on_behalf_of="person:eva")
    bank.clock.now += 61
    decision = bank.kernel.can("bank", CALL)
    by_eva = file_request_for_call(bank.context("agent:cas"), acting, decision, org="bank")
    assert bank.refuse(by_eva, "person:eva").code == "SELF_GRANT"


def test_approvers_that_are_one_subject_count_once(bank: Bank) -> None:
    """All operators are one; an agent and the person who runs it are one; two agents in a role are two."""
    made = bank.request()
    bank.approve(made, "system:cli")
    assert bank.refuse(made, bank.key("second")).code == "ALREADY_APPROVED"
    assert bank.approve(made, "person:ann").status == "approved"
    bank.clock.now += 61
    made = bank.request()
    bank.approve(made, bank.key("bob", "bob", "eva"))
    assert bank.refuse(made, "person:eva").code == "ALREADY_APPROVED"
    assert bank.approve(made, "agent:ada").status == "approved"


def test_an_approver_who_lost_the_right_does_not_count_in_the_end(bank: Bank) -> None:
    """An agent that left its role, and a key that was revoked. The others have to be enough."""
    made = bank.request()
    bank.approve(made, "agent:bob")
    lost = bank.key("ann", None, "ann")
    path = bank.folder / "org.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("bob: {assignments: [{role: head}]}", "bob: {assignments: [{role: clerk}]}"), encoding="utf-8")  # fmt: skip
    bank.plain.reload()
    assert bank.missing(made) == "2 different approvers"
    bank.approve(made, lost)
    bank.store.keys.revoke(lost.name.removeprefix("caller:"), actor="test")
    assert bank.missing(made) == "2 different approvers"
    assert bank.approve(made, "agent:ada").status == "pending"
    assert bank.approve(made, "person:eva").status == "approved"
    (grant,) = bank.store.grants.list("agent:cas")
    assert grant.approved_by == ("agent:ada", "person:eva")


def test_a_request_with_one_of_two_approvals_expires(bank: Bank) -> None:
    """Approvals that came in time are not enough when the time has run out."""
    made = bank.request()
    bank.approve(made, "agent:ada")
    bank.clock.now += 86_401
    assert bank.refuse(made, "person:ann").code == "NOT_PENDING"
    assert bank.store.grants.list("agent:cas") == ()


def test_no_host_asks_one_person_instead(bank: Bank) -> None:
    """The hook denies, the exported agent has no such tool, and Cedar counts the policy as a loss."""
    view = bank.plain.organization("bank").snapshot.index
    files = export_claude_code(view)
    assert any("several have to approve" in each.what for each in files.lost)
    assert ["Bash" in files.files[f".claude/agents/{role}.md"] for role in ("clerk", "head")] == [False, True]
    cedar = export_cedar(view)
    assert any(each.what == "required approvals" for each in cedar.lost)
    desk = OrganizationAccess(view, EMPTY_STATE, lambda: (1_000_000.0, 0))
    (clerk,) = (
        answers
        for answers in map(json.loads, compile_hook(desk, render_decision, "test").files.values())
        if answers["role"] == "clerk"
    )
    assert clerk["tools"]["Bash"]["outcome"] == "deny"
    assert "the host would ask one person" in clerk["tools"]["Bash"]["text"]
