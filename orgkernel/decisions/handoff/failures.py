"""A step that failed, by its code; the text, the lines and the remedies are put together when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from orgkernel.decisions.handoff.permission import STEPS, HandoffFinding, HandoffStep

UNDECIDED = frozenset({"CONTEXT_MISSING", "BRIEF_UNREADABLE", "BRIEF_PARENT_UNSTATED"})
"""What is not known, and would decide. It never opens; where nothing else fails, nobody can tell."""
_ORDER = {step: number for number, step in enumerate(STEPS)}


class Failure(NamedTuple):
    """A step that failed."""

    step: HandoffStep
    code: str
    tell: Callable[[], HandoffFinding]

    @classmethod
    def of(cls, finding: HandoffFinding) -> Failure:
        """A finding that is there already."""
        return cls(finding.step, finding.code, lambda: finding)

    @property
    def order(self) -> int:
        """The place of its step."""
        return _ORDER[self.step]
