"""The tiers of PACE and what they oblige to: the one list of these words, for hosts, documents and decisions alike.

Source: specification, "PACE Plan". Standard library only: this module also runs inside hosts. It imports nothing that
costs time, because every command does.
"""

from __future__ import annotations

from typing import Final

PRIMARY, ALTERNATE, CONTINGENT, EMERGENCY = TIERS = ("primary", "alternate", "contingent", "emergency")
"""In order of escalation."""
ABOVE_PRIMARY: Final = TIERS[1:]
"""Those that a trigger leads to."""

NORMAL, FALLBACK, ESCALATE, ABORT = ACTIONS = (
    "normal_execution",
    "fallback_chain",
    "escalate",
    "abort_and_report",
)
"""What a tier may oblige to; the action of a tier that names none is the one at its place."""

NO_NEW_DISPATCH: Final = frozenset({CONTINGENT, EMERGENCY})
"""Tiers in which a role hands out no new work."""
NO_NEW_WORK: Final = frozenset({EMERGENCY})
"""Tiers in which a role begins nothing; essential tools, escalating and aborting stay (design §6)."""
