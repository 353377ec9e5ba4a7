"""The record every document and every part of a document is made of. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
import msgspec
PREFIX = 'orgkernel:'
ORGANIZATION = f'{PREFIX}organization'
Id = str
RoleId = Id
OrgId = Id
DomainId = Id
PlanId = Id
SkillId = Id
AgentId = Id
OriginId = Id
PersonId = Id
PolicyId = Id
QualificationId = Id
RankId = Id
WebhookId = Id
ToolId = str
RuleCode = str
Reason = str


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A frozen part of a document; a field nobody knows is refused here and reported as a warning by loading."""


class Suppression(Record, frozen=True, kw_only=True):
    """One finding of this document that its author has judged acceptable, with the reason."""
    rule: RuleCode
    reason: Reason
    subject: str | None = None


class Document(Record, frozen=True, kw_only=True):
    """What every document carries, whatever its kind."""
    version: str = msgspec.field(default='1.0', name='_version')
    suppressions: tuple[Suppression, ...] = ()
