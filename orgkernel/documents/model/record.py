"""The base records of all documents and their parts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

# The prefix of `_schema`, and the `_schema` of an organization.
PREFIX = "orgkernel:"
ORGANIZATION = f"{PREFIX}organization"

# An id is one path segment of ASCII characters, without slash, leading dot or white space. It needs no quoting in a URL,
# a file name or an address.
Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,99}$")]
# A path or a glob of paths.
PathGlob = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
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
# Tools of an MCP server are written `server.tool`.
ToolId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$")]
RuleCode = Annotated[str, StringConstraints(pattern=r"^ORG[0-9]{3}$")]
SuppressionReason = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class Record(BaseModel):
    """A frozen part of a document. It rejects unknown fields; loading reports them as warnings."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", populate_by_name=True, defer_build=True
    )


class Suppression(Record):
    """A finding in this document that the author accepts, with the reason."""

    rule: RuleCode
    """Code of the suppressed rule, such as `ORG305`."""
    reason: SuppressionReason
    """Why the finding is acceptable here."""
    subject: str | None = None
    """Suppress only findings about this subject, written `role:ID`, `domain:ID`, …. Absent means all findings."""


class Document(Record):
    """The fields of every kind of document."""

    version: str = Field(default="1.0", alias="_version")
    """Version of the format, `MAJOR.MINOR`."""
    suppressions: tuple[Suppression, ...] = ()
    """Accepted findings in this document, each with a reason."""
