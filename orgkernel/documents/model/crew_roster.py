"""`crew_roster`: the agents and the roles that they fill.

The roster declares existence and starting values. The store owns everything that changes.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.documents.model.record import AgentId, Document, Id, OrgId, RankId, Record, RoleId


class Assignment(Record):
    """A role that an agent fills."""

    role: RoleId
    org: OrgId | None = None
    """Organization of the role. Default: the organization of the roster."""
    watches: tuple[Id, ...] = ("alpha",)
    """Watches in which the agent fills the role. While another watch is recorded, dispatch skips the agent; access
    depends on a watch only where a policy matches it."""


Trait = Annotated[float, Field(ge=0.0, le=1.0)]


class PersonalitySeed(Record):
    """The initial values of five traits, each from 0 to 1."""

    openness: Trait = 0.5
    conscientiousness: Trait = 0.5
    extraversion: Trait = 0.5
    agreeableness: Trait = 0.5
    neuroticism: Trait = 0.5


class RosterMember(Record):
    """An agent of the crew."""

    callsign: str = ""
    """The crew's name for the agent."""
    rank: RankId | None = None
    """Starting rank. Default: the rank for its trust, or the entry rank of its role."""
    trust: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    """Starting trust, 0 to 1."""
    trust_weight: Annotated[float, Field(gt=0.0)] = 4.0
    """Number of recorded outcomes that weigh as much as the starting trust."""
    assignments: tuple[Assignment, ...] = ()
    """Roles that the agent fills. An agent may fill several roles, and several agents may fill one role."""
    crew_tier: Literal["crew", "utility", "infrastructure", "external"] = "crew"
    """Only agents of tier `crew` are part of the chain of command."""
    personality: PersonalitySeed | None = None
    """The personality that observations are compared with. Default: 0.5 in every trait. No permission depends on it."""
    description: str = ""


class CrewRoster(Document):
    """Agents, and the roles that they fill."""

    kind: Literal["orgkernel:crew_roster"] = Field(default="orgkernel:crew_roster", alias="_schema")
    description: str = ""
    org: OrgId | None = None
    """Organization of assignments that name none. Absent means every organization that sees the roster and has the role."""
    agents: dict[AgentId, RosterMember] = Field(default_factory=dict)
