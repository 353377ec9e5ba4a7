"""The PACE tiers and their actions: the one list of these words for hosts, documents and decisions.

Source: specification, "PACE Plan". Standard library only: this module also runs inside hosts. Its imports are cheap,
because every command imports it.
"""

from __future__ import annotations

from typing import Final

PRIMARY, ALTERNATE, CONTINGENT, EMERGENCY = TIERS = ("primary", "alternate", "contingent", "emergency")
"""The tiers in order of escalation."""
ABOVE_PRIMARY: Final = TIERS[1:]
"""Tiers that have a trigger."""

NORMAL, FALLBACK, ESCALATE, ABORT = ACTIONS = (
    "normal_execution",
    "fallback_chain",
    "escalate",
    "abort_and_report",
)
"""Actions of a tier. A tier that names no action has the one at the same position."""

NO_NEW_HANDOFF: Final = frozenset({CONTINGENT, EMERGENCY})
"""Tiers in which a role hands down no new work."""
NO_NEW_WORK: Final = frozenset({EMERGENCY})
"""Tiers in which a role starts no new work. It may still use essential tools, escalate and abort."""
