"""Every field of a governance document changes a finding or a hand-off permission, or is told to people only (TOLD_ONLY)."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.handoff.briefs import HandoffBriefs
from orgkernel.decisions.handoff.decide import decide_handoff_permission
from orgkernel.decisions.handoff.permission import HandoffQuestion
from orgkernel.decisions.ownership.claim_terms import get_claim_terms
from orgkernel.decisions.ownership.claims import ClaimIndex, FileClaim
from orgkernel.decisions.ownership.held import is_held
from orgkernel.decisions.work.contracts.check import check_contract
from orgkernel.decisions.work.contracts.reading import read_contract
from orgkernel.decisions.work.contracts.terms import get_contract_terms
from orgkernel.documents.records import (
    Blocker,
    LmcAttempt,
    LmcRecord,
    ManagerOutput,
    Result,
    StatedChanges,
)
from orgkernel.graph.governance import read_governance
from orgkernel.loading.files import decode
from tests.support.trees import TEMPLATES, copy_template, read
from tests.support.yaml_text import read_yaml_file

DOCUMENT = read_yaml_file(TEMPLATES / "omega" / "governance.yaml")

# Another value for each field.
FIELDS: dict[str, Any] = {
    "governance:layers.L0": {"roles": ["overseer", "human"]},
    "governance:layers.L4.optional": True,
    "governance:layers.L5.roles": ["worker", "planner"],
    "governance:layers.L0.read_only": False,
    "governance:dispatch_edges": DOCUMENT["dispatch_edges"][:6],
    "governance:dispatch_edges.6.from": "L3",
    "governance:dispatch_edges.6.to": "L4",
    "governance:dispatch_edges.6.requires": ["brief"],
    "governance:dispatch_edges.6.queue_mode": "collect",
    "governance:dispatch_edges.6.session_key": "agent:{to}",
    "governance:limits": {},
    "governance:limits.max_spawn_depth": 3,
    "governance:limits.max_children": 2,
    "governance:limits.max_concurrent": 2,
    "governance:dispatch_edges.6.gates": ["secaudit"],
    "governance:sacred_scopes": {},
    "governance:sacred_scopes.authentication.paths": ["login/**"],
    "governance:sacred_scopes.authentication.unlocked_with_gate": "testaudit",
    "governance:sacred_scopes.authentication.new_files_only": True,
    "governance:sacred_scopes.authentication.readers": ["worker"],
    "governance:sacred_scopes.billing.unlocked_by": "allow_dependency_change",
    "governance:destructive_operations": ["force_push"],
    "governance:quality_gates": {"secaudit": {}},
    "governance:batch_size": 1,
    **{
        f"governance:claims.{field}": {field: value}
        for field, value in {
            "without_handoff": ["worker"],
            "max_seconds": 60,
            "max_claims": 1,
            "min_fixed_names": 2,
        }.items()
    },
    "governance:lmc_modes": {"L4": "full"},
    "governance:phrases": ["should we ask"],
    "governance:ownership_audits": "optional",
    **{
        f"governance:commits.{field}": {"held": "agents", field: value}
        for field, value in {
            "held": "agents",
            "agent_variables": ["TERM_AGENT"],
            "agent_authors": ["*@bots.example"],
        }.items()
    },
}
BRIEF = HandoffBriefs(
    read_contract(
        decode(
            "brief",
            "brief",
            b"{_schema: 'orgkernel:brief', id: 6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c0001, parent: 6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c0009,"
            b" mission: a, purpose: b, context: {},"
            b" whats_done: [], current_task: c, done_criteria: d, verify_command: pytest, key_decisions: [],"
            b" relevant_memories: [], ship: false, audit_gates: [testaudit],"
            b" spec: {scope: {files_owned: [auth/a.py, billing/b.py], destructive: [discard_changes], allow_billing: true, allow_authentication: true}}}",
        )
    )
)
LED = LmcRecord(mode="lite", lead="planner", attempts=(LmcAttempt(manager=ManagerOutput(agent="a", status="DONE", confidence=1)),))  # fmt: skip
ASKS = Blocker(
    session="s", blocked_at="2026-05-17T10:05:00Z", question="Shall we discuss the color?", best_guess="Blue", fallback_action="Paint it blue",
    can_resume_without_answer=True,
)  # fmt: skip
UNAUDITED = Result(
    agent="a", status="pending", started_at="2026-05-17T10:05:00Z", finished_at="2026-05-17T10:05:00Z",
    changes=StatedChanges(base="a" * 40, head="b" * 40, no_audit=True),
)  # fmt: skip
ASKED = HandoffQuestion(sender="L4", receiver="L5")
RUNNING = FileClaim(
    org_id="omega", token=1, holder="agent:a", paths=("docs/a.md",), claimed_at=0, expires_at=1,
    mission="6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c0009",
)  # fmt: skip
STATE = StateView(claims=ClaimIndex([RUNNING]))
# With an empty layer, it matters whether the layer is optional.
TOGETHER: dict[str, tuple[str, Any]] = {"governance:layers.L4.optional": ("layers.L4.roles", [])}


def change(document: Any, route: str, value: Any) -> None:
    *above, last = (int(step) if step.isdigit() else step for step in route.split("."))
    for step in above:
        document = document[step]
    document[last] = value


def observe(folder: Path, document: Any) -> list[Any]:
    """Findings, and every pair of layers at three places of a run."""
    copy_template(folder, "omega")
    (folder / "governance.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    snapshot = read(folder)
    view = snapshot.organizations["omega"].index
    seen: list[Any] = sorted((found.code, found.message) for found in snapshot.diagnostics)
    terms = get_contract_terms(view)
    seen.append(get_claim_terms(view))
    governance = read_governance(view.records.governance)
    commits = None if governance is None else governance.commits
    seen += [
        is_held(commits, {"TERM_AGENT": "1"}, []),
        is_held(commits, {}, ["a@bots.example"]),
        is_held(commits, {}, []),
    ]
    reads = AccessRequest("role:planner", "use", "tool:file_read:auth/login.py")
    seen.append(decide_access(view, reads).outcome)
    seen += [len(check_contract(contract, terms=terms)) for contract in (LED, ASKS, UNAUDITED)]
    layers = [f"L{number}" for number in range(6)]
    for sender in layers:
        for receiver in layers:
            if sender == "L4":
                found = decide_handoff_permission(view, ASKED, STATE, BRIEF)
                seen.append(([each.code for each in found.findings], found.obligations))
            for run in ({"depth": 0}, {"depth": 3}, {"children": 3}, {"concurrent": 3}):
                asked = HandoffQuestion(sender=sender, receiver=receiver, **run)
                found = decide_handoff_permission(view, asked)
                codes = [each.code for each in found.findings]
                routing = found.routing and (found.routing.queue_mode, found.routing.session_key)
                seen.append((sender, receiver, found.outcome, codes, found.obligations, routing))
    return seen


@pytest.mark.parametrize(("field", "value"), [pytest.param(*each, id=each[0]) for each in FIELDS.items()])
def test_another_value_changes_an_answer(field: str, value: Any, tmp_path: Path) -> None:
    """Each field changes a finding, or whether and under which conditions work may be handed down."""
    before = copy.deepcopy(DOCUMENT)
    if field in TOGETHER:
        change(before, *TOGETHER[field])
    after = copy.deepcopy(before)
    # The template declares no limits of claims, and nothing about commits.
    route = field.partition(":")[2]
    if route.startswith(("claims.", "commits.")):
        route = route.partition(".")[0]
    change(after, route, value)
    assert before != after
    assert observe(tmp_path / "after", after) != observe(tmp_path / "before", before)
