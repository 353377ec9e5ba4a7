"""Laws of the agents in an answer of dispatch: a naive oracle agrees, and nothing that binds an agent ever adds one."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.dispatch.agent_choice import AgentChoice
from orgkernel.decisions.dispatch.by_agent import choose_agents
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from tests.reference.agent_oracle import RANKS, choose
from tests.support.agent_states import NOW, build_agent_state
from tests.support.trees import write_tree

ROLES = ("top", "lead", "worker", "helper")
SUPERIORS = {"top": None, "lead": "top", "worker": "lead", "helper": "lead"}
TOOLS, SKILLS = ("saw", "drill"), ("cut", "bore")
World = dict[str, Any]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    roles = {
        role: {
            "superior": SUPERIORS[role],
            "deputy": draw(st.sampled_from((None, *ROLES))),
            "entry_rank": draw(st.sampled_from((None, None, *RANKS))),
            "open_to_probation": draw(st.booleans()),
            "tools": draw(st.sampled_from((TOOLS, TOOLS, TOOLS[:1], ()))),
            "skills": draw(
                st.fixed_dictionaries({"cut": st.integers(1, 2)}, optional={"bore": st.integers(1, 2)})
            ),
        }
        for role in ROLES
    }
    lifecycles = (*["active"] * 10, "probationary", "registered", "suspended", "decommissioned")
    watches = st.lists(st.sampled_from(("alpha", "beta")), min_size=1, unique=True)
    few_tools = st.sampled_from(([], [], ["saw"], ["drill"]))
    agents = {
        name: {
            "roles": draw(
                st.dictionaries(st.sampled_from((*ROLES, *["worker"] * 5)), watches, min_size=1, max_size=2)
            ),
            "rank": draw(st.sampled_from(RANKS)),
            "lifecycle": draw(st.sampled_from(lifecycles)),
            "skills": draw(
                st.fixed_dictionaries({"cut": st.integers(0, 5)}, optional={"bore": st.integers(0, 4)})
            ),
            "claims": draw(st.integers(0, 2)),
            "ended_claims": draw(st.integers(0, 2)),
            "handoffs": draw(st.integers(0, 2)),
            "restricted": draw(few_tools),
            "ask": draw(few_tools),
            "emergency": draw(st.sampled_from((*[False] * 7, True))),
        }
        for name in draw(st.lists(st.sampled_from("abcde"), min_size=2, unique=True))
    }
    return {
        "roles": roles,
        "agents": agents,
        "watch": draw(st.sampled_from((None, "alpha", "beta", "other"))),
    }


def open_view(folder: Path, world: World) -> OrgView:
    documents: list[Any] = [
        {
            "_schema": "orgkernel:organization", "org_id": "shop", "watches": ["alpha", "beta"],
            "hierarchy": {"top": {"subordinates": ["lead"]}, "lead": {"subordinates": ["worker", "helper"]}},
        },
        {"_schema": "orgkernel:domain_catalog", "domains": {"make": {}}},
        {"_schema": "orgkernel:tool_catalog", "tools": {tool: {"type": "deterministic_function"} for tool in TOOLS}},
        {"_schema": "orgkernel:skill_catalog", "skills": {skill: {} for skill in SKILLS}},
        {"_schema": "orgkernel:rank_ladder", "ranks": [{"id": rank} for rank in RANKS]},
        {
            "_schema": "orgkernel:access_policies",
            "policies": {
                f"ask_{agent}_{tool}": {
                    "effect": "ask", "match": {"principal": {"agent": agent}}, "permissions": {"tools": [tool]},
                }
                for agent, member in world["agents"].items()
                for tool in member["ask"]
            },
        },
        {
            "_schema": "orgkernel:crew_roster",
            "agents": {
                name: {"assignments": [{"role": role, "watches": each} for role, each in member["roles"].items()]}
                for name, member in world["agents"].items()
            },
        },
    ]  # fmt: skip
    for role, each in world["roles"].items():
        profile: dict[str, Any] = {
            "_schema": "orgkernel:role_profile", "role_id": role, "open_to_probation": each["open_to_probation"],
            "role_type": {"top": "commander", "lead": "executive"}.get(role, "specialist"),
            "capabilities": {
                "tools_primary": each["tools"], "bst_domains": ["make"] if role == "worker" else [],
                "skills": [{"skill": skill, "min_proficiency": least} for skill, least in each["skills"].items()],
            },
        }  # fmt: skip
        profile |= {field: each[field] for field in ("deputy", "entry_rank") if each[field] is not None}
        documents.append(profile)
    write_tree(folder, {f"{number}.json": json.dumps(document) for number, document in enumerate(documents)})
    return Kernel.open(folder).organization("shop").snapshot.index


def ask(view: OrgView, world: World, needs: list[str]) -> AgentChoice | None:
    agents = world["agents"].items()
    stored = {
        "lifecycles": {name: member["lifecycle"] for name, member in agents},
        "ranks": {name: member["rank"] for name, member in agents},
        "skills": {name: member["skills"] for name, member in agents},
        "claims": {name: [NOW + 1] * member["claims"] + [NOW - 1] * member["ended_claims"] for name, member in agents},
        "handoffs": {name: [NOW + 1] * member["handoffs"] + [NOW] * member["ended_claims"] for name, member in agents},
        "restrictions": {f"agent:{name}": f"tool:{tool}" for name, member in agents for tool in member["restricted"]},
        "emergency": [name for name, member in agents if member["emergency"]],
        "watch": world["watch"],
    }  # fmt: skip
    decision = decide_dispatch(view, "make", needs=needs)
    state = build_agent_state(stored, "shop")
    return choose_agents(view, state, decision, needs, AccessContext(now=NOW), all_considered=True).crew


@given(worlds(), st.lists(st.sampled_from(TOOLS), unique=True))
@settings(max_examples=400)
def test_a_naive_oracle_agrees(world: World, needs: list[str]) -> None:
    """The acting role, its agents in order, and the codes of the others."""
    with TemporaryDirectory() as folder:
        crew = ask(open_view(Path(folder), world), world, needs)
    if not set(needs) <= set(world["roles"]["worker"]["tools"]):
        # Then no role takes the task.
        assert crew is None
        return
    assert crew is not None
    unavailable = {
        each.agent_id: [reason.code for reason in each.reasons] for each in reversed(crew.unavailable)
    }
    assert (crew.acting_role, [each.agent_id for each in crew.agents], unavailable) == choose(
        world, "worker", needs
    )


@given(worlds(), st.data())
@settings(max_examples=100)
def test_what_binds_an_agent_never_adds_it(world: World, data: st.DataObject) -> None:
    """A suspension, a restriction, an emergency or a suspended skill of one agent never makes that agent available."""
    agent = data.draw(st.sampled_from(sorted(world["agents"])))
    field, value = data.draw(
        st.sampled_from(
            (
                ("lifecycle", "suspended"), ("restricted", list(TOOLS)), ("emergency", True),
                ("skills", dict.fromkeys(SKILLS, 0)),
            )
        )
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        view = open_view(Path(folder), world)
        before = ask(view, world, [])
        bound = world | {"agents": world["agents"] | {agent: world["agents"][agent] | {field: value}}}
        after = ask(view, bound, [])
    assert before is not None
    assert after is not None
    available = {each.agent_id for each in after.agents} & {agent}
    # It can act as a superior of the role instead, which needs neither skills nor tools.
    assert before.acting_role != after.acting_role or available <= {each.agent_id for each in before.agents}
