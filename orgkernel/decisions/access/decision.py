"""The result of an access decision: a short answer, and its explanation."""

from __future__ import annotations

from typing import Literal

import msgspec

from orgkernel.decisions.reasons import Reason, Why

Outcome = Literal["allow", "deny", "ask", "conditional"]
"""The outcome of a decision. `conditional` means allowed, unless a circumstance that the caller did not state applies."""
ChangeKind = Literal[
    "state",
    "path",
    "other_path",
    "other_command",
    "other_input",
    "lock",
    "envelope",
    "resume",
    "lift",
    "qualification",
    "grant",
    "approvals",
    "rank",
    "role",
    "equip",
    "declare",
    "enable",
    "policy_removed",
]
"""The kinds of changes in remedies, sorted by how much they grant, least first."""
MAX_CHANGES = 3
"""The highest number of changes in one remedy."""


class AccessDecision(msgspec.Struct, frozen=True, gc=False):
    """An access decision, with the codes that decided it.

    >>> from orgkernel import AccessRequest, Kernel
    >>> kernel = Kernel.open()
    >>> kernel.can("software_dev", AccessRequest("role:codegen_specialist", "terminal", "tool:code_execution_tool")).outcome
    'allow'
    """

    outcome: Outcome
    code: str
    """The deciding code: the source of an allowance, or the first failing reason in the order of the layers."""
    codes: tuple[str, ...]
    """Every failing reason of a denial, or every source of an allowance."""
    level_required: str
    """The level that the action of the tool requires; empty if the action or the resource is not declared."""
    level_effective: str
    """The level that the subject has in these circumstances."""
    obligations: tuple[str, ...]
    """The obligations of the caller, each as `WORD:ID`: `approval`, `state`, `consume_grant`, `hold_lock`, `credential`."""
    snapshot: str
    """The digest of the organization that was used."""
    state_version: int
    grants: tuple[str, ...] = ()
    """The stored grants that the allowance depends on, for the audit."""


class TraceLine(msgspec.Struct, frozen=True):
    """The effect of one access layer on one of the three values."""

    access_layer: str
    statement: str
    value: Literal["granted", "ceiling", "stopped", ""]
    """The value that changed; empty if the access layer had no effect."""
    before: str
    after: str
    why: tuple[Why, ...] = ()


class RemedyChange(msgspec.Struct, frozen=True, order=True):
    """One change of a remedy."""

    kind: ChangeKind
    value: str
    """The subject of the change: circumstances, a tool, agent, restriction, qualification, resource, rank, role or policy."""
    waives: tuple[str, ...] = ()
    """The ceilings that the grant has to waive."""
    level: str = ""
    """The level of the grant, or of the entry in the profile."""
    subject: str = ""
    """The subject that the change concerns; empty if it concerns none in particular."""


class RemedyEdit(msgspec.Struct, frozen=True):
    """A change of a document."""

    file: str
    line: int
    """The nearest existing line."""
    write: str
    """The text to write."""
    under: str = ""
    """The field, role, agent or policy under which the text belongs; empty if it stands alone."""


class Remedy(msgspec.Struct, frozen=True):
    """A minimal set of changes that would allow the request."""

    changes: tuple[RemedyChange, ...]
    text: str
    commands: tuple[str, ...] = ()
    """The commands to run, in this order."""
    edits: tuple[RemedyEdit, ...] = ()
    """Changes of documents that no command can make."""
    opens: str = ""
    """What else the changes would allow, in words; empty if nothing, or if it was not counted."""


class Who(msgspec.Struct, frozen=True):
    """The subjects that already can: the first few, and a count."""

    subjects: tuple[str, ...]
    count: int


class AccessExplanation(msgspec.Struct, frozen=True):
    """A decision with its reasons, trace and remedies.

    >>> from orgkernel import AccessRequest, Kernel
    >>> explanation = Kernel.open().why("software_dev", AccessRequest("role:co", "handoff", "role:bugfix_specialist"))
    >>> [edge.text for edge in explanation.reasons[0].why]
    ['role bugfix_specialist reports to role engineering_xo', 'role engineering_xo reports to role co']
    """

    decision: AccessDecision
    reasons: tuple[Reason, ...]
    """One reason for each code of the decision, followed by grants that no longer apply: expired (`GRANT_EXPIRED`),"""
    trace: tuple[TraceLine, ...]
    remedies: tuple[Remedy, ...]
    who_can: Who


class AccessRow(msgspec.Struct, frozen=True, gc=False):
    """One row of a list: what a subject may do with a resource.

    >>> from orgkernel import Kernel
    >>> row = Kernel.open().who_can("software_dev", "use", "tool:scheduler")[0]
    >>> row.subject, row.outcome, row.conditional
    ('role:co', 'allow', False)
    """

    subject: str
    resource: str
    outcome: Outcome
    actions: tuple[str, ...]
    """The actions that the row is for."""
    level: str
    code: str
    conditions: tuple[str, ...]
    """The circumstances that could change the answer: `time`, `channel`, `path`, `lock`, each with its value. If there
    are any, the row is conditional.
    """

    @property
    def conditional(self) -> bool:
        """Whether a time, channel, path or lock could change the answer."""
        return bool(self.conditions)
