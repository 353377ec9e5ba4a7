"""Who is asked and delegated to: counted from recorded hand-offs, in and outside the chain of command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orgkernel import Kernel
from orgkernel.decisions.crew.leadership import observe_leadership
from orgkernel.decisions.evidence.state_records import HandoffRecord
from tests.support.trees import write_tree

FILES = {
    "org.yaml": """
_schema: orgkernel:organization
org_id: post
hierarchy: {chief: {subordinates: [clerk, runner]}}
external: [user]
---
_schema: orgkernel:crew_roster
org: post
agents: {ann: {assignments: [{role: clerk}]}, bob: {assignments: [{role: runner}]}, lea: {assignments: [{role: chief}]}}
""",
    **{
        f"{role}.yaml": f"_schema: orgkernel:role_profile\nrole_id: {role}\nrole_type: {kind}\n"
        for role, kind in (("chief", "commander"), ("clerk", "specialist"), ("runner", "specialist"))
    },
}


def handoff(number: int, sender: str, receiver: str, holder: str) -> HandoffRecord:
    rest: dict[str, Any] = dict.fromkeys(
        ("from_session", "brief", "mission", "token", "depth", "on_behalf_of")
    )
    return HandoffRecord(
        org_id="post", number=number, handoff_id=f"h{number}", at=0.0, sender=sender, receiver=receiver, holder=holder,
        session=f"s{number}", queue_mode="queue", session_key="", code="CHAIN_OF_COMMAND", obligations=(),
        expires_at=1.0, snapshot="", actor="test", reason="", digest="", previous="", **rest,
    )  # fmt: skip


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel.open(write_tree(tmp_path, FILES))


def test_hand_offs_are_counted_by_subject(kernel: Kernel) -> None:
    """Ann is asked by two subjects, once past the chain of command; the first row is the one that most subjects ask."""
    log = [
        handoff(1, "agent:lea", "role:clerk", "agent:ann"),
        handoff(2, "role:chief", "role:clerk", "agent:ann"),
        handoff(3, "agent:bob", "role:clerk", "agent:ann"),
        handoff(4, "agent:lea", "role:runner", "agent:bob"),
    ]
    observation = observe_leadership(kernel.organization("post").snapshot.index, log)
    rows = [
        (
            each.subject,
            each.received,
            each.senders,
            each.received_outside_chain,
            each.passed_on,
            each.receivers,
        )
        for each in observation.counts
    ]
    assert observation.handoffs == 4
    assert rows == [
        ("agent:ann", 3, 3, 1, 0, 0),
        ("agent:bob", 1, 1, 0, 1, 1),
        ("agent:lea", 0, 0, 0, 2, 2),
        ("role:chief", 0, 0, 0, 1, 1),
    ]


def test_without_hand_offs_there_is_nothing_to_see(kernel: Kernel) -> None:
    """No row stands for a subject of which nothing is recorded."""
    assert observe_leadership(kernel.organization("post").snapshot.index, ()).counts == ()
