"""The findings about contracts that do not fit the log of hand-offs and with recorded audits (ORG788 to ORG790,
ORG792 to ORG794): one row each.
"""

from __future__ import annotations

from orgkernel.diagnostics.catalog import Row
from orgkernel.diagnostics.diagnostic import Severity

_E = Severity.ERROR

WORK_NOT_HANDED_DOWN = Row(
    "ORG788", "work-not-handed-down", _E,
    "A contract is about a session, a brief or a mission that is not in the log of hand-offs.",
    "Anyone could report a success for work that was never ordered. Only a recorded hand-off shows who works in a session, by which brief, and for whom.",
    "Record the hand-off first, with `orgkernel task handoff record`, and name its session and its brief in the contract.",
)  # fmt: skip
WORK_OF_ANOTHER = Row(
    "ORG789", "work-of-another", _E,
    "A contract is about a session or a brief that was handed down to another agent.",
    "A worker could end, block or correct the work of another one, and the sender would believe it.",
    "Let the agent that got the work store the contract, or name your own session and brief.",
)  # fmt: skip
WRITER_OUTSIDE_MISSION = Row(
    "ORG790", "writer-outside-mission", _E,
    "A contract changes a mission, and its writer neither got the work of this mission nor handed it down.",
    "The planner of a mission and the sender that handed it down answer for it: they write its briefs, answer its blockers and close it.",
    "Let the planner or the sender of the mission store the contract. A worker reports to its sender with a result or a blocker.",
)  # fmt: skip
OWNERSHIP_NOT_AUDITED = Row(
    "ORG792", "ownership-not-audited", _E,
    "A `done_clean` report states changed files, and no complete ownership audit of the same commits is recorded for its brief.",
    "A worker reports its own changes. Only an audit by its sender or an operator shows that it changed no other files.",
    "Let the sender run `orgkernel ownership audit --record` for the commits in `changes`, then correct the report.",
)  # fmt: skip
OWNERSHIP_VIOLATED = Row(
    "ORG793", "ownership-violated", _E,
    "The last recorded ownership audit of the brief is not clean.",
    "Files of others, or sacred files, were changed. Work that did this is not done, whatever its verify command says.",
    "Undo the changes, let the sender record another audit, then correct the report.",
)  # fmt: skip
AUDIT_NOT_OPTIONAL = Row(
    "ORG794", "audit-not-optional", _E,
    "A report sets `changes.no_audit`, and the governance document does not say `ownership_audits: optional`.",
    "A worker must not decide whether its work is audited.",
    "Remove `no_audit`, and let the sender audit the work. Or declare `ownership_audits: optional` in the governance document.",
)  # fmt: skip

HANDOFF_ROWS: dict[str, Row] = {row.code: row for row in list(globals().values()) if isinstance(row, Row)}
