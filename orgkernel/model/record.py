"""The record every document and every part of a document is made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

# What `_schema` begins with, and what it is for an organization.
PREFIX = "orgkernel:"
ORGANIZATION = f"{PREFIX}organization"

# An id is one path segment: no slash, no dot at the start, no white space, ASCII only, so that it can stand in a
# URL, a file name and an address without quoting.
Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,99}$")]
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
# Tools of an MCP server are written `server.tool` (facts: Agent-Zero §7).
ToolId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,199}$")]
RuleCode = Annotated[str, StringConstraints(pattern=r"^ORG[0-9]{3}$")]
Reason = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class Record(BaseModel):
    """A frozen part of a document; a field nobody knows is refused here and reported as a warning by loading."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", populate_by_name=True, defer_build=True
    )


class Suppression(Record):
    """One finding of this document that its author has judged acceptable, with the reason."""

    rule: RuleCode
    """Code of the rule that is silenced, such as `ORG305`."""
    reason: Reason
    """Why the finding is acceptable here."""
    subject: str | None = None
    """Silence only findings about this subject, written `role:ID`, `domain:ID`, …; absent means all of them."""


class Document(Record):
    """What every document carries, whatever its kind."""

    version: str = Field(default="1.0", alias="_version")
    """Version of the format, `MAJOR.MINOR`."""
    suppressions: tuple[Suppression, ...] = ()
    """Findings located in this document that are accepted, each with a reason."""
