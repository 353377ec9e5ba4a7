"""`crew_roster`: the agents and the roles that they fill. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.record import AgentId, Document, Id, OrgId, RankId, Record, RoleId


class Assignment(Record, frozen=True, kw_only=True):
    """A role that an agent fills."""
    role: RoleId
    org: OrgId | None = None
    watches: tuple[Id, ...] = ('alpha',)
Trait = float


class PersonalitySeed(Record, frozen=True, kw_only=True):
    """Five traits, each from 0 to 1, with which an agent begins."""
    openness: Trait = 0.5
    conscientiousness: Trait = 0.5
    extraversion: Trait = 0.5
    agreeableness: Trait = 0.5
    neuroticism: Trait = 0.5


class RosterMember(Record, frozen=True, kw_only=True):
    """An agent of the crew."""
    callsign: str = ''
    rank: RankId | None = None
    trust: float | None = None
    trust_weight: float = 4.0
    assignments: tuple[Assignment, ...] = ()
    tier: Literal['crew', 'utility', 'infrastructure', 'external'] = 'crew'
    personality: PersonalitySeed | None = None
    description: str = ''


class CrewRoster(Document, frozen=True, kw_only=True):
    """Agents and their assignments."""
    kind: Literal['orgkernel:crew_roster'] = msgspec.field(default='orgkernel:crew_roster', name='_schema')
    description: str = ''
    org: OrgId | None = None
    agents: dict[AgentId, RosterMember] = msgspec.field(default_factory=dict)
