"""Reason codes of access decisions, as bits in the order of the layers (policies and governance §3.3, §10).

A decision adds up the bits of everything that fails: the lowest is the code of a denial, all of them its codes.
"""

from __future__ import annotations

from functools import cache

# Identity and structure.
UNKNOWN_PRINCIPAL = 1 << 0
AGENT_INACTIVE = 1 << 1
TOOL_UNKNOWN = 1 << 2
CREDENTIAL_UNKNOWN = 1 << 3
DATA_UNKNOWN = 1 << 4
ROLE_UNKNOWN = 1 << 5
RESOURCE_UNKNOWN = 1 << 6
ACTION_UNKNOWN = 1 << 7
TOOL_DISABLED = 1 << 8
# Visibility.
NOT_VISIBLE = 1 << 9
NOT_IN_RESTRICTED_TO = 1 << 10
# Binding of tools, and command.
NOT_BOUND_TO_ROLE = 1 << 11
CANNOT_DELEGATE = 1 << 12
TARGET_NOT_ALLOWED = 1 << 13
DISPATCH_EDGE_FORBIDDEN = 1 << 14
# Rank and qualification.
RANK_TOO_LOW = 1 << 15
QUALIFICATION_MISSING = 1 << 16
# Policies.
POLICY_DENY = 1 << 17
POLICY_CEILING = 1 << 18
NO_POLICY_MATCH = 1 << 19
# Stored restrictions, position, delegation, PACE, lock and input.
RESTRICTED = 1 << 20
POSITION_CAP = 1 << 21
WORKER_CANNOT_DISPATCH = 1 << 22
PARENT_CAP = 1 << 23
DEPTH_EXCEEDED = 1 << 24
CHILD_LIMIT = 1 << 25
PACE_CAP = 1 << 26
LOCKED = 1 << 27
INPUT_INVALID = 1 << 28
# Not a denial; last, because a denial comes before it.
ASK_APPROVAL = 1 << 29

NAMES = {
    bit: name
    for name, bit in globals().copy().items()
    if name.isupper() and isinstance(bit, int)
}  # fmt: skip
BITS = {name: bit for bit, name in NAMES.items()}

EVALUATION_ERROR = "EVALUATION_ERROR"
# Told beside what fails, and none of it: what has expired is absent.
GRANT_EXPIRED = "GRANT_EXPIRED"

# Sources of an allowance, in the order of the layers.
SOURCES = (
    "ESSENTIAL_TOOL",
    "BOUND_TO_ROLE",
    "COMMANDS",
    "MAY_DISPATCH",
    "REPORTS_TO",
    "POLICY_ALLOW",
    "GRANTED",
)
ESSENTIAL, BOUND, COMMANDS, MAY_DISPATCH, REPORTS_TO, BY_POLICY, BY_GRANT = (1 << n for n in range(7))


@cache
def names_of(failing: int) -> tuple[str, ...]:
    """The codes of failing bits, in the order of the layers."""
    return tuple(name for bit, name in NAMES.items() if failing & bit)


@cache
def sources_of(sources: int) -> tuple[str, ...]:
    """The codes of sources, in the order of the layers."""
    return tuple(name for number, name in enumerate(SOURCES) if sources & 1 << number)
