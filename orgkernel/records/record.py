"""The base records of all documents and their parts. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
import msgspec
PREFIX = 'orgkernel:'
ORGANIZATION = f'{PREFIX}organization'
Id = str
PathGlob = str
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
SuppressionReason = str


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A frozen part of a document. It rejects unknown fields; loading reports them as warnings."""


class Suppression(Record, frozen=True, kw_only=True):
    """A finding in this document that the author accepts, with the reason."""
    rule: RuleCode
    reason: SuppressionReason
    subject: str | None = None


class Document(Record, frozen=True, kw_only=True):
    """The fields of every kind of document."""
    version: str = msgspec.field(default='1.0', name='_version')
    suppressions: tuple[Suppression, ...] = ()
