"""Which agents a filter selects, and what a line says of each."""

from __future__ import annotations

from typing import Any

import pytest

from orgkernel import AgentFilter, Kernel
from orgkernel.decisions.evidence.state_view import (
    EMPTY_STATE,
    AgentState,
    QualificationResult,
    SkillRecord,
    StateView,
)
from orgkernel.decisions.evidence.trust import get_trust
from orgkernel.errors import UnknownAgent
from orgkernel.manifest.crew import build_agent_list, select_agents

DAY = 86_400.0
KERNEL = Kernel.open()
VIEW = KERNEL.organization("starship").snapshot.index


def chosen(state: StateView = EMPTY_STATE, now: float = 0.0, **wanted: Any) -> list[str]:
    return list(select_agents(VIEW, state, AgentFilter(**wanted), now))


def skill(agent: str, name: str, level: int, *, suspended: bool = False) -> SkillRecord:
    return SkillRecord(agent, "starship", name, level, acquired_at=0, suspended=suspended)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"department": "bridge"}, ["counselor", "number_one"]),
        ({"department": "medical", "watch": "beta"}, ["suture", "tincture"]),
        ({"role": "scout"}, ["kestrel"]),
        ({"tool": "quarantine"}, ["bastion"]),
        ({"intent": "repair_agent"}, ["suture"]),
        ({"rank": "commander", "department": "science"}, ["lens"]),
        ({"watch": "gamma"}, ["bastion", "trace"]),
        ({"lifecycle": "suspended"}, []),
        ({"department": "no_such_department"}, []),
        ({"skill": "scouting"}, []),
    ],
)
def test_documents_alone(wanted: dict[str, str], found: list[str]) -> None:
    """Without stored state, filters go by what the documents say."""
    assert chosen(**wanted) == found


def test_skills_and_their_levels() -> None:
    """A skill counts at the level that is left of it now, and not while it is suspended."""
    state = StateView(
        skills={
            "kestrel": (skill("kestrel", "scouting", 4),),
            "folio": (skill("folio", "scouting", 2), skill("folio", "source_research", 5)),
            "lens": (skill("lens", "scouting", 7, suspended=True),),
        }
    )
    assert chosen(state, skill="scouting") == ["folio", "kestrel"]
    assert chosen(state, skill="scouting", min_level=3) == ["kestrel"]
    # `scouting` loses a level in seven days.
    assert chosen(state, now=14 * DAY, skill="scouting", min_level=3) == []
    assert chosen(state, skill="source_research", min_level=5, department="science") == ["folio"]


def test_stored_ranks_results_and_lifecycles() -> None:
    """What is stored counts: ranks, tests that were passed, and the state of an agent."""
    state = StateView(
        agents={
            "kestrel": AgentState("kestrel", rank="commander", org_id="starship"),
            "folio": AgentState("folio", lifecycle="suspended", org_id="starship"),
        },
        results={"salve": (QualificationResult("salve", "diagnosis", 0.9, True, 0.0, org_id="starship"),)},
    )
    assert chosen(state, rank="commander", department="science") == ["kestrel", "lens"]
    assert chosen(state, lifecycle="suspended") == ["folio"]
    assert chosen(state, qualification="diagnosis") == ["salve"]
    # The test counts for 180 days.
    assert chosen(state, now=181 * DAY, qualification="diagnosis") == []


def test_pages() -> None:
    """Pages follow one another without a gap, and the last one has no cursor."""
    everybody = chosen()
    first = build_agent_list(VIEW, EMPTY_STATE, everybody, limit=10)
    assert (first.count, first.next, len(first.agents)) == (16, everybody[9], 10)
    rest = KERNEL.agents("starship", after=first.next, limit=10)
    assert [each.agent_id for each in first.agents + rest.agents] == everybody
    assert rest.next is None
    with pytest.raises(UnknownAgent):
        KERNEL.agents("starship", after="nobody")


def test_a_line() -> None:
    """A line says where an agent belongs and how it stands."""
    line = KERNEL.agents("starship", AgentFilter(role="engineering_officer")).agents[0]
    assert (line.agent_id, line.callsign, line.roles, line.departments, line.watches, line.rank, line.lifecycle) == (
        "rivet", "Rivet", ("engineering_officer",), ("engineering",), ("alpha", "beta"), "lieutenant", "active",
    )  # fmt: skip


def test_the_trust_of_a_line_rests_on_outcomes() -> None:
    """It is the trust of the agent's manifest, and not the one that the roster starts with."""
    state = StateView(agents={"rivet": AgentState("rivet", org_id="starship", successes=3, failures=1)})
    (line,) = build_agent_list(VIEW, state, ["rivet"]).agents
    trust = get_trust(VIEW, state, "rivet")
    assert (line.trust, line.trust_distribution) == (trust.mean, trust)
    assert line.trust != trust.prior_mean
