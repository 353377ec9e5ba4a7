"""A failing step with its code. Texts, lines and remedies are built only for explanations."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from orgkernel.decisions.handoff.permission import STEPS, HandoffFinding, HandoffStep

UNDECIDED = frozenset({"CONTEXT_MISSING", "BRIEF_UNREADABLE", "BRIEF_PARENT_UNSTATED"})
"""Codes of facts that are not known and would decide. They never permit; if nothing else fails, the answer is `cannot_tell`."""
_ORDER = {step: number for number, step in enumerate(STEPS)}


class Failure(NamedTuple):
    """A failing step."""

    step: HandoffStep
    code: str
    build_finding: Callable[[], HandoffFinding]

    @classmethod
    def from_finding(cls, finding: HandoffFinding) -> Failure:
        """The failure for an existing finding."""
        return cls(finding.step, finding.code, lambda: finding)

    @property
    def order(self) -> int:
        """The position of its step."""
        return _ORDER[self.step]
