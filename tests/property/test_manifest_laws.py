"""Forward and reverse agree: what a manifest lists is what who-can finds and what can allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.evidence.state_view import AgentState, Grant, Restriction, StateView
from orgkernel.kernel.kernel import Kernel
from orgkernel.project.cases import FixedState
from tests.support.trees import TEMPLATES

KERNEL = Kernel.open(TEMPLATES)
ORG = "household"
INDEX = KERNEL.organization(ORG).snapshot.index
ROLES, AGENTS = list(INDEX.roles), list(INDEX.records.agents)
# Those anybody is given, and some that nobody is.
TOOLS = [
    tool
    for tool in INDEX.records.tools
    if INDEX.get_holder_levels(tool) or tool in ("code_execution_tool", "response")
]
SUBJECTS = [*(f"role:{role}" for role in ROLES), *(f"agent:{agent}" for agent in AGENTS)]
LEVELS = ["none", "observe", "read", "write", "full"]
NIGHT, DAY, WEEKEND = 1_000_000_800.0, 1_000_040_000.0, 1_000_000_800.0 + 5 * 86_400


def _by_subject(items: list[Any]) -> Mapping[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for each in items:
        found[each.subject] = (*found.get(each.subject, ()), each)
    return found


resources = st.sampled_from([*(f"tool:{tool}" for tool in TOOLS), "tool:*"]).map(lambda name: (name,))
ends = st.sampled_from([None, DAY - 1, DAY + 1e6])
grants = st.lists(
    st.builds(
        Grant, st.uuids().map(str), st.sampled_from(SUBJECTS), resources, st.sampled_from(LEVELS),
        st.sampled_from([(), ("rank",), ("visibility", "qualification")]), expires_at=ends,
        uses_left=st.sampled_from([None, 0, 1]), channel=st.sampled_from([None, "slack"]),
    ),
    max_size=4,
)  # fmt: skip
restrictions = st.lists(
    st.builds(
        Restriction, st.uuids().map(str), st.sampled_from(SUBJECTS), resources, st.sampled_from(LEVELS), expires_at=ends
    ),
    max_size=3,
)  # fmt: skip
agents = st.lists(
    st.builds(
        AgentState, st.sampled_from(AGENTS), st.sampled_from([None, "ensign", "senior"]),
        st.sampled_from([None, 0.1, 0.9]), st.sampled_from(["active", "suspended"]),
    ),
    max_size=2,
)  # fmt: skip
states = st.builds(
    lambda granted, bounded, standing: StateView(
        1, {each.agent_id: each for each in standing}, _by_subject(granted), _by_subject(bounded)
    ),
    grants, restrictions, agents,
)  # fmt: skip

# It holds in a channel alone, and nothing else gives the tool.
IN_A_CHANNEL = Grant("1", "role:steward", ("tool:read_file",), "read", channel="slack")


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@example(state=StateView(1, {}, _by_subject([IN_A_CHANNEL]), {}), now=NIGHT)
@given(state=states, now=st.sampled_from([NIGHT, DAY, WEEKEND]))
def test_forward_and_reverse_agree(state: StateView, now: float) -> None:
    """For the same state and time, manifests of roles and agents, what-can, who-can and can say the same of every action."""
    kernel = KERNEL.with_store(FixedState(state), lambda: (now, 0))
    listed, asking, depending = set(), set(), set()
    for subject in SUBJECTS:
        kind, _, name = subject.partition(":")
        manifest: Any = kernel.manifest(ORG, name) if kind == "role" else kernel.agent_manifest(ORG, name)
        for tool in (*manifest.tools, *getattr(manifest, "essential_tools", ())):
            listed |= {(subject, tool.id, action) for action in tool.allowed_actions}
            asking |= {(subject, tool.id, action) for action in tool.ask_actions}
            depending |= {(subject, tool.id, action) for action in tool.conditional_actions}
    outcomes = ("allow", "ask", "conditional", "deny")
    reverse: dict[str, set[Any]] = {outcome: set() for outcome in outcomes}
    decided: dict[str, set[Any]] = {outcome: set() for outcome in outcomes}
    for tool_id, definition in INDEX.records.tools.items():
        if tool_id not in TOOLS and not any(tool == tool_id for _, tool, _ in listed | asking | depending):
            continue
        lock = ("lock",) if definition.record.concurrency == "exclusive" else ()
        for action in (*definition.record.required_levels, *lock):
            for row in kernel.who_can(ORG, action, f"tool:{tool_id}", kinds=("role", "agent")):
                reverse[row.outcome].add((row.subject, tool_id, action))
            for subject in SUBJECTS:
                found = kernel.can(ORG, AccessRequest(subject, action, f"tool:{tool_id}"))
                decided[found.outcome].add((subject, tool_id, action))
    assert listed == reverse["allow"] == decided["allow"]
    assert asking == reverse["ask"] == decided["ask"]
    assert reverse["conditional"] == decided["conditional"]
    # What is denied is listed where another circumstance could open it.
    assert depending == reverse["conditional"] | reverse["deny"]
    assert reverse["deny"] <= decided["deny"]


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(state=states)
def test_what_can_be_requested_works_when_it_is_granted(state: StateView) -> None:
    """A tool a manifest says could be asked for is allowed once a grant of that level, with those waivers, is there."""
    kernel = KERNEL.with_store(FixedState(state), lambda: (DAY, 0))
    for subject in SUBJECTS:
        kind, _, name = subject.partition(":")
        manifest: Any = kernel.manifest(ORG, name) if kind == "role" else kernel.agent_manifest(ORG, name)
        for tool in manifest.requestable_tools:
            grant = Grant("g", subject, (f"tool:{tool.id}",), tool.level, tool.waives)
            given_too = {**state.grants, subject: (*state.grants.get(subject, ()), grant)}
            then = StateView(2, state.agents, given_too, state.restrictions)
            request = AccessRequest(subject, "use", f"tool:{tool.id}", AccessContext(peer_kind=""))
            there = KERNEL.with_store(FixedState(then), lambda: (DAY, 0))
            assert there.can(ORG, request).outcome == "allow", (subject, tool.id)
