"""What an access decision says: the hot answer, and the explanation of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from orgkernel.decisions.reasons import Reason, Why

Outcome = Literal["allow", "deny", "ask", "conditional"]
"""`conditional`: it would be allowed, unless a circumstance that the caller did not state holds."""
ChangeKind = Literal[
    "state",
    "path",
    "other_path",
    "other_command",
    "lock",
    "envelope",
    "resume",
    "lift",
    "qualification",
    "grant",
    "rank",
    "role",
    "equip",
    "declare",
    "policy_removed",
]
"""What remedies are made of; what opens least comes first."""
MOST_CHANGES = 3
"""The most changes of a remedy."""


class AccessDecision(msgspec.Struct, frozen=True, gc=False):
    """Whether something is allowed, with the codes of what decided.

    >>> from orgkernel import AccessRequest, Kernel
    >>> kernel = Kernel.open()
    >>> kernel.can("software_dev", AccessRequest("role:codegen_specialist", "terminal", "tool:code_execution_tool")).outcome
    'allow'
    """

    outcome: Outcome
    code: str
    """What decided first: the source of an allowance, or the first failing reason in the order of the layers."""
    codes: tuple[str, ...]
    """Every failing reason; for an allowance its sources."""
    level_required: str
    """What the action of the tool requires; empty where the action or the resource is not declared."""
    level_effective: str
    """What the subject has of it, here and now."""
    obligations: tuple[str, ...]
    """What the caller has to do, `WORD:ID` each: `approval`, `state`, `consume_grant`, `hold_lock`, `credential`."""
    snapshot: str
    """Digest of the organization the answer came from."""
    state_version: int
    grants: tuple[str, ...] = ()
    """Stored grants without which it would not be allowed, for the audit."""


class TraceLine(msgspec.Struct, frozen=True):
    """What one access layer did to one of the three values."""

    access_layer: str
    statement: str
    value: Literal["granted", "ceiling", "stopped", ""]
    """The value it speaks of; empty where the access layer has nothing to say."""
    before: str
    after: str
    why: tuple[Why, ...] = ()


class RemedyChange(msgspec.Struct, frozen=True, order=True):
    """Something that could be changed: one of the kinds remedies are made of."""

    kind: ChangeKind
    value: str
    """The circumstances, tool, agent, restriction, qualification, resource, rank, role, subject or policy."""
    waives: tuple[str, ...] = ()
    """What the grant has to lift."""
    level: str = ""
    """Level of the grant, or of the entry in the profile."""
    subject: str = ""
    """Whom it is about; empty where it is about nobody in particular."""


class RemedyEdit(msgspec.Struct, frozen=True):
    """A change of a document."""

    file: str
    line: int
    """The nearest line that is there."""
    write: str
    """What to write."""
    under: str = ""
    """The field, role, agent or policy to write it under; empty where it stands for itself."""


class Remedy(msgspec.Struct, frozen=True):
    """Changes that together, and no fewer of them, would allow the request."""

    changes: tuple[RemedyChange, ...]
    text: str
    commands: tuple[str, ...] = ()
    """Commands to run, in this order."""
    edits: tuple[RemedyEdit, ...] = ()
    """Changes of documents, which no command makes."""
    opens: str = ""
    """What else it would open; empty where that is nothing, or was not counted."""


class Who(msgspec.Struct, frozen=True):
    """Who already can; the first few and a count."""

    subjects: tuple[str, ...]
    count: int


class AccessExplanation(msgspec.Struct, frozen=True):
    """A decision with everything it rests on.

    >>> from orgkernel import AccessRequest, Kernel
    >>> explanation = Kernel.open().why("software_dev", AccessRequest("role:co", "handoff", "role:bugfix_specialist"))
    >>> [edge.text for edge in explanation.reasons[0].why]
    ['role bugfix_specialist reports to role engineering_xo', 'role engineering_xo reports to role co']
    """

    decision: AccessDecision
    reasons: tuple[Reason, ...]
    """One for each code of the decision, and after them the grants that are missed: one that ran out (`GRANT_EXPIRED`),
    and one that is for another version of the documents (`GRANT_OUTDATED`)."""
    trace: tuple[TraceLine, ...]
    remedies: tuple[Remedy, ...]
    who_can: Who


class AccessRow(msgspec.Struct, frozen=True, gc=False):
    """One answer of a list: what a subject may do with a resource.

    >>> from orgkernel import Kernel
    >>> row = Kernel.open().who_can("software_dev", "use", "tool:scheduler")[0]
    >>> row.subject, row.outcome, row.conditional
    ('role:co', 'allow', False)
    """

    subject: str
    resource: str
    outcome: Outcome
    actions: tuple[str, ...]
    """The actions this holds for."""
    level: str
    code: str
    conditions: tuple[str, ...]
    """What could change the answer: `time`, `channel`, `path`, `lock`, each with its value; the row is conditional."""

    @property
    def conditional(self) -> bool:
        """Whether a time, channel, path or lock could change the answer."""
        return bool(self.conditions)
