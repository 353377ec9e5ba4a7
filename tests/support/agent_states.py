"""The stored state of a crew, from the short form of the cases and laws about agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgkernel.decisions.evidence.crew_records import OrgStatus
from orgkernel.decisions.evidence.state_view import (
    AgentState,
    OpenHandoff,
    Restriction,
    SkillRecord,
    StateView,
    StoredReport,
    ToolLock,
)
from orgkernel.decisions.ownership.claims import ClaimIndex, FileClaim

NOW = 100.0


def build_agent_state(stored: Mapping[str, Any], org: str) -> StateView:
    """`lifecycles`, `ranks`, `skills` (level 0 is suspended), `claims` and `handoffs` (the ends of leases), `restrictions`, `locks`,
    `emergency` and `watch`; agents are named by id.
    """
    named = {*stored.get("lifecycles", {}), *stored.get("ranks", {})}
    claims = [(agent, end) for agent, ends in stored.get("claims", {}).items() for end in ends]
    watch = stored.get("watch")
    emergencies = {f"agent:{agent}": (_report(org, agent),) for agent in stored.get("emergency", ())}
    return StateView(
        version=1,
        agents={
            agent: AgentState(
                agent,
                stored.get("ranks", {}).get(agent),
                lifecycle=stored.get("lifecycles", {}).get(agent, "active"),
                org_id=org,
            )
            for agent in sorted(named)
        },
        skills={
            agent: tuple(
                SkillRecord(agent, org, skill, level or 4, 0.0, suspended=not level, decays_from=NOW)
                for skill, level in levels.items()
            )
            for agent, levels in stored.get("skills", {}).items()
        },
        claims=ClaimIndex(
            FileClaim(
                org_id=org, token=number, holder=f"agent:{agent}", paths=(f"{number}.py",), claimed_at=0.0, expires_at=end
            )
            for number, (agent, end) in enumerate(claims, 1)
        ),
        restrictions={
            subject: (Restriction("r", subject, (resource,), org_id=org),)
            for subject, resource in stored.get("restrictions", {}).items()
        },
        handoffs={
            agent: tuple(OpenHandoff(agent, f"s-{number}", number, end) for number, end in enumerate(ends, 1))
            for agent, ends in stored.get("handoffs", {}).items()
        },
        locks={tool: ToolLock(org, tool, holder, 1, 0.0) for tool, holder in stored.get("locks", {}).items()},
        status={} if watch is None else {"watch": OrgStatus(org, "watch", watch)},
        reports=emergencies,
        raised=frozenset(emergencies),
    )  # fmt: skip


def _report(org: str, agent: str) -> StoredReport:
    return StoredReport(1, org, "", agent, 0, NOW, NOW, "emergency", {})
