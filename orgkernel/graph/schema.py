"""The table of edge kinds (docs/architecture.md). Edges read as sentences: `role reports_to role`."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import msgspec

from orgkernel.diagnostics import Place


class NodeKind(Enum):
    """The kinds of nodes."""

    ORGANIZATION = "organization"
    ROLE = "role"
    DOMAIN = "domain"
    PLAN = "plan"
    TOOL = "tool"
    SKILL = "skill"
    INTENT = "intent"
    DEPARTMENT = "department"
    QUALIFICATION = "qualification"
    AGENT = "agent"
    POLICY = "policy"
    RANK = "rank"
    COGNITIVE_SKILL = "cognitive_skill"
    PROCEDURE = "procedure"


class EdgeSchema(msgspec.Struct, frozen=True):
    """A row of the table."""

    source: NodeKind
    target: NodeKind
    attribute: str = ""
    """The meaning of the attribute, if the edge has one."""
    parts: tuple[str, ...] = ()
    """The names of the parts of the attribute, which are separated by colons."""

    def read_attribute(self, attribute: str) -> dict[str, str]:
        """The parts of an edge's attribute by name, without empty ones."""
        values = attribute.split(":", len(self.parts) - 1) if self.parts else []
        return {part: value for part, value in zip(self.parts, values, strict=False) if value}


class EdgeKind(Enum):
    """Every kind of edge. Its value is the verb."""

    INCLUDES = "includes"
    REPORTS_TO = "reports_to"
    HANDLES = "handles"
    FOLLOWS = "follows"
    EQUIPPED_WITH = "equipped_with"
    REQUIRES = "requires"
    SERVES_INTENT = "serves_intent"
    BELONGS_TO = "belongs_to"
    ESCALATES_TO = "escalates_to"
    MAY_HAND_WORK_TO = "may_hand_work_to"
    SPEAKS_WITH = "speaks_with"
    NARROWER_THAN = "narrower_than"
    SERVES = "serves"
    NEEDS = "needs"
    FALLS_BACK_TO = "falls_back_to"
    PRESUPPOSES = "presupposes"
    NEEDS_QUALIFICATION = "needs_qualification"
    RAISES = "raises"
    BUILDS_ON = "builds_on"
    FILLS = "fills"
    COVERS = "covers"
    STARTS_AT = "starts_at"
    MAY_GRANT = "may_grant"
    KNOWS = "knows"
    PERFORMS = "performs"
    CALLS = "calls"

    # A kind equals only itself. Without this, a million table lookups in a load would each hash its name.
    __hash__ = object.__hash__


SCHEMA: dict[EdgeKind, EdgeSchema] = {
    EdgeKind.INCLUDES: EdgeSchema(NodeKind.ORGANIZATION, NodeKind.ROLE),
    EdgeKind.REPORTS_TO: EdgeSchema(
        NodeKind.ROLE, NodeKind.ROLE, "`hierarchy` or `profile`: where it is declared", ("said_by",)
    ),
    EdgeKind.HANDLES: EdgeSchema(NodeKind.ROLE, NodeKind.DOMAIN),
    EdgeKind.FOLLOWS: EdgeSchema(NodeKind.ROLE, NodeKind.PLAN),
    EdgeKind.EQUIPPED_WITH: EdgeSchema(
        NodeKind.ROLE, NodeKind.TOOL, "`PREFERENCE:LEVEL`", ("preference", "level")
    ),
    EdgeKind.REQUIRES: EdgeSchema(
        NodeKind.ROLE,
        NodeKind.SKILL,
        "`required:N` or `optional:N`, least proficiency",
        ("need", "proficiency"),
    ),
    EdgeKind.SERVES_INTENT: EdgeSchema(
        NodeKind.ROLE,
        NodeKind.INTENT,
        "`cognitive_skill:NAME` or `procedure:ID` that serves it; empty if the profile lists the intent",
        ("by", "name"),
    ),
    EdgeKind.BELONGS_TO: EdgeSchema(NodeKind.ROLE, NodeKind.DEPARTMENT),
    EdgeKind.ESCALATES_TO: EdgeSchema(NodeKind.ROLE, NodeKind.ROLE, "PACE tier", ("tier",)),
    EdgeKind.MAY_HAND_WORK_TO: EdgeSchema(NodeKind.ROLE, NodeKind.ROLE),
    EdgeKind.SPEAKS_WITH: EdgeSchema(NodeKind.ROLE, NodeKind.ROLE, "channel", ("channel",)),
    EdgeKind.NARROWER_THAN: EdgeSchema(NodeKind.DOMAIN, NodeKind.DOMAIN),
    EdgeKind.SERVES: EdgeSchema(NodeKind.PLAN, NodeKind.DOMAIN),
    EdgeKind.NEEDS: EdgeSchema(NodeKind.PLAN, NodeKind.TOOL),
    EdgeKind.FALLS_BACK_TO: EdgeSchema(NodeKind.TOOL, NodeKind.TOOL),
    EdgeKind.PRESUPPOSES: EdgeSchema(NodeKind.SKILL, NodeKind.SKILL, "least proficiency", ("proficiency",)),
    EdgeKind.NEEDS_QUALIFICATION: EdgeSchema(NodeKind.TOOL, NodeKind.QUALIFICATION),
    EdgeKind.RAISES: EdgeSchema(
        NodeKind.QUALIFICATION,
        NodeKind.SKILL,
        "highest level that it raises to, if there is a limit",
        ("up_to",),
    ),
    EdgeKind.BUILDS_ON: EdgeSchema(NodeKind.QUALIFICATION, NodeKind.QUALIFICATION),
    EdgeKind.FILLS: EdgeSchema(
        NodeKind.AGENT, NodeKind.ROLE, "its watches, separated by commas", ("watches",)
    ),
    EdgeKind.STARTS_AT: EdgeSchema(NodeKind.ROLE, NodeKind.RANK),
    EdgeKind.MAY_GRANT: EdgeSchema(
        NodeKind.ROLE, NodeKind.TOOL, "highest level that it may grant", ("level",)
    ),
    EdgeKind.KNOWS: EdgeSchema(NodeKind.ROLE, NodeKind.COGNITIVE_SKILL),
    EdgeKind.PERFORMS: EdgeSchema(
        NodeKind.ROLE,
        NodeKind.PROCEDURE,
        "the skill that brings it; empty if the profile lists the procedure",
        ("skill",),
    ),
    EdgeKind.CALLS: EdgeSchema(NodeKind.PROCEDURE, NodeKind.TOOL, "the step that calls it", ("step",)),
    EdgeKind.COVERS: EdgeSchema(
        NodeKind.POLICY, NodeKind.TOOL, "`allow`, `deny` or `ask`: its effect on the tool", ("effect",)
    ),
}


# The verbs whose sentence form differs from the value.
_VERBS = {
    EdgeKind.EQUIPPED_WITH: "is equipped with",
    EdgeKind.NARROWER_THAN: "is narrower than",
    EdgeKind.SERVES_INTENT: "serves",
    EdgeKind.NEEDS_QUALIFICATION: "needs",
}
# The text before the source, and between source and target. Precomputed, because answers contain many edges.
_SENTENCES = {
    kind: (
        f"{row.source.value} ",
        f" {_VERBS.get(kind, kind.value.replace('_', ' '))} {row.target.value.replace('_', ' ')} ",
    )
    for kind, row in SCHEMA.items()
}


class Edge(NamedTuple):
    """A statement of a document, with its place."""

    kind: EdgeKind
    source: str
    target: str
    attribute: str
    place: Place

    def __str__(self) -> str:
        """The statement as a sentence.

        >>> from orgkernel.diagnostics import Place
        >>> str(Edge(EdgeKind.EQUIPPED_WITH, "lead", "weather", "primary:read", Place("lead.yaml", 5, 7)))
        'role lead is equipped with tool weather'
        """
        source, verb = _SENTENCES[self.kind]
        return f"{source}{self.source}{verb}{self.target}"
