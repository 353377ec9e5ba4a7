"""What is stored for one subject decides about it, whichever state was asked about before."""

from __future__ import annotations

from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, Grant, Restriction, StateView
from orgkernel.kernel.kernel import Kernel

VIEW = Kernel.open().organization("software_dev").snapshot.index
ROLE = "role:codegen_specialist"
GIVEN = AccessRequest(ROLE, "use", "tool:text_editor")
LACKING = AccessRequest(ROLE, "use", "tool:scheduler")
# Versions say nothing here: two states of one version are two states.
OTHERS = StateView(1, grants={"person:somebody": (Grant("g", "person:somebody", ("tool:scheduler",)),)})
GRANTED = StateView(1, grants={ROLE: (Grant("g", ROLE, ("tool:scheduler",)),)})
RESTRICTED = StateView(1, restrictions={ROLE: (Restriction("r", ROLE, ("tool:text_editor",)),)})


def test_each_state_is_looked_at() -> None:
    """Whatever was asked before with another state, in any order and again."""
    expected = {
        "nothing": (EMPTY_STATE, "allow", "deny"),
        "others": (OTHERS, "allow", "deny"),
        "granted": (GRANTED, "allow", "allow"),
        "restricted": (RESTRICTED, "deny", "deny"),
    }
    order = (
        "nothing",
        "granted",
        "nothing",
        "others",
        "others",
        "restricted",
        "others",
        "granted",
        "restricted",
        "nothing",
    )
    for name in order:
        state, given, lacking = expected[name]
        assert decide_access(VIEW, GIVEN, state).outcome == given, name
        assert decide_access(VIEW, LACKING, state).outcome == lacking, name
