"""`crew_roster`: which agents there are and which roles they fill (crew-capability facts §1.3).

The roster declares existence and starting values; the store owns what changes (design §3).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.model.record import AgentId, Document, Id, OrgId, RankId, Record, RoleId


class Assignment(Record):
    """A role an agent fills."""

    role: RoleId
    org: OrgId | None = None
    """Organization of the role; by default that of the roster."""
    watches: tuple[Id, ...] = ("alpha",)
    """Watches on which the agent fills it."""


class Member(Record):
    """An agent of the crew."""

    callsign: str = ""
    """What the crew calls it."""
    rank: RankId | None = None
    """Rank it starts at; by default that of its trust, or the entry rank of its role."""
    trust: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    """Trust it starts with, 0 to 1."""
    assignments: tuple[Assignment, ...] = ()
    """Roles it fills; an agent can fill several, and several can fill one role."""
    tier: Literal["crew", "utility", "infrastructure", "external"] = "crew"
    """Only `crew` takes part in the chain of command."""
    description: str = ""


class CrewRoster(Document):
    """Agents and their assignments."""

    kind: Literal["orgkernel:crew_roster"] = Field(default="orgkernel:crew_roster", alias="_schema")
    description: str = ""
    org: OrgId | None = None
    """Organization the assignments are in that name none; absent means each that sees the roster and has the role."""
    agents: dict[AgentId, Member] = Field(default_factory=dict)
