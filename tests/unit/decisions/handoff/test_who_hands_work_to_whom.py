"""Whom a role may hand work to: those below it, those it has a right over, and no layer that no edge leads to."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel import AccessRequest, Kernel
from tests.support.trees import write_tree

ORGANIZATION = """\
_schema: orgkernel:organization
org_id: crew
layers: [top, middle, low]
dispatch_edges: [{from: top, to: middle}, {from: middle, to: low}]
hierarchy:
  chief: {subordinates: [lead]}
  lead: {subordinates: [hand]}
  hand: {}
"""


def profile(role: str, role_type: str, layer: str, more: str = "") -> str:
    return f"_schema: orgkernel:role_profile\nrole_id: {role}\nrole_type: {role_type}\nlayer: {layer}\n{more}"


@pytest.mark.parametrize(
    ("sender", "target", "outcome", "codes"),
    [
        ("chief", "lead", "allow", ("CHAIN_OF_COMMAND",)),
        ("chief", "hand", "deny", ("DISPATCH_EDGE_FORBIDDEN",)),
        ("lead", "hand", "allow", ("CHAIN_OF_COMMAND",)),
        ("lead", "chief", "deny", ("TARGET_NOT_ALLOWED", "DISPATCH_EDGE_FORBIDDEN")),
    ],
)
def test_layers_bound_the_chain_of_command(
    tmp_path: Path, sender: str, target: str, outcome: str, codes: tuple[str, ...]
) -> None:
    """A role above may be out of reach, because no edge leads to its layer."""
    files = {
        "org.yaml": ORGANIZATION,
        "chief.yaml": profile("chief", "commander", "top"),
        "lead.yaml": profile("lead", "executive", "middle"),
        "hand.yaml": profile("hand", "specialist", "low"),
    }
    kernel = Kernel.open(write_tree(tmp_path, files))
    decision = kernel.can("crew", AccessRequest(f"role:{sender}", "handoff", f"role:{target}"))
    assert (decision.outcome, decision.codes) == (outcome, codes)


@pytest.mark.parametrize("side", ["sender", "target"])
def test_a_right_reaches_beside_the_chain_of_command(tmp_path: Path, side: str) -> None:
    """Either side may declare it."""
    rights = {"sender": "handoff: {may_to: [peer]}\n", "target": "handoff: {may_from: [lead]}\n"}
    files = {
        "org.yaml": "_schema: orgkernel:organization\norg_id: crew\nhierarchy:\n  chief: {subordinates: [lead, peer]}\n",
        "chief.yaml": profile("chief", "commander", "top"),
        "lead.yaml": profile("lead", "executive", "middle", rights[side] if side == "sender" else ""),
        "peer.yaml": profile("peer", "executive", "middle", rights[side] if side == "target" else ""),
    }
    kernel = Kernel.open(write_tree(tmp_path, files))
    decision = kernel.can("crew", AccessRequest("role:lead", "handoff", "role:peer"))
    assert (decision.outcome, decision.codes) == ("allow", ("MAY_HAND_OFF",))
    back = kernel.can("crew", AccessRequest("role:peer", "handoff", "role:lead"))
    assert (back.outcome, back.codes) == ("deny", ("TARGET_NOT_ALLOWED",))
