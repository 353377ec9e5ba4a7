"""The findings of `orgkernel test`, one row each. A name in a case that is not declared is a finding of a rule (ORG708)."""

from __future__ import annotations

from orgkernel.diagnostics.catalog import Row
from orgkernel.diagnostics.diagnostic import Severity

_E = Severity.ERROR

UNMET_EXPECTATION = Row(
    "ORG720", "unmet-expectation", _E,
    "A decision case expects another answer than the organization gives.",
    "Either a change of the organization has an effect that its author did not expect, or the expectation is out of date.",
    "Correct the organization; `orgkernel can ... --why` and `orgkernel dispatch --why` show the lines that decide. If the new answer is right, correct the case.",
)  # fmt: skip
UNANSWERED_CASES = Row(
    "ORG721", "unanswered-cases", _E,
    "The organization of a decision case has errors, so it gives no answers and its cases are not run.",
    "A case that is not run shows nothing, so `orgkernel test` cannot succeed.",
    "Run `orgkernel check`, and correct the errors of the organization.",
)  # fmt: skip
MALFORMED_QUESTION = Row(
    "ORG722", "malformed-question", _E,
    "A question of a decision case cannot be asked: it has not exactly one of `domain`, `intent` and `text`, or names a date that does not exist.",
    "The expectation is never tested.",
    "Ask one thing in each question, and write dates as `YYYY-MM-DD HH:MM`.",
)  # fmt: skip

CASE_ROWS: dict[str, Row] = {row.code: row for row in list(globals().values()) if isinstance(row, Row)}
