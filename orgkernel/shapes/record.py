"""The base records of all documents and their parts. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated
import msgspec
PREFIX = 'orgkernel:'
ORGANIZATION = f'{PREFIX}organization'
Id = Annotated[str, msgspec.Meta(pattern='^[A-Za-z_][A-Za-z0-9_-]{0,99}\\Z')]
PathGlob = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
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
ToolId = Annotated[str, msgspec.Meta(pattern='^[A-Za-z_][A-Za-z0-9_.-]{0,199}\\Z')]
RuleCode = Annotated[str, msgspec.Meta(pattern='^ORG[0-9]{3}\\Z')]
SuppressionReason = Annotated[str, msgspec.Meta(min_length=1, pattern='(?s)^[^\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000](.*[^\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000])?\\Z')]


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, forbid_unknown_fields=True):
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
