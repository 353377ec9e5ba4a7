"""The effect of an error: nothing, one role or skill out of service, or the whole organization held back (docs/adr/0094).

The code decides together with the place. An error is about one role if it is in the profile of the role, or in the file of an
agent in another format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from orgkernel.diagnostics import Severity

OF_ALL: Final = frozenset({"ORG203", "ORG204", "ORG205", "ORG206", "ORG211", "ORG213"})
"""Errors about a role that concern the whole chain of command."""
WITHOUT_EFFECT: Final = frozenset({"ORG704"})
"""Errors in files of other formats that no answer depends on, although they must be corrected."""
HARMLESS_IN_ROLES: Final = frozenset(
    {
        # An unknown domain, plan, tool or skill has no effect in a role. In a policy, a catalog or an organization it could
        # mean that something is not denied.
        "ORG301", "ORG302", "ORG303", "ORG304", "ORG626", "ORG628",
        # A decision refuses these by itself: a tool that the role lacks, or may not use.
        "ORG309", "ORG409",
    }
)  # fmt: skip
"""Errors about a role without which no answer would permit less."""
OF_ONE_SKILL: Final = frozenset({"ORG621", "ORG622", "ORG623", "ORG627", "ORG628"})
"""Errors for which a skill is withheld from every subject, or a procedure falls to its next tier."""
OF_CASES: Final = frozenset({"ORG707", "ORG708", "ORG720", "ORG721", "ORG722"})
"""Mistakes in tests, which no answer depends on."""

RuleEffect = Literal["nothing", "this role", "this agent", "this skill or procedure", "the organization"]
EffectPlace = Literal["profile", "document", "agent"]
PLACES: Final[Mapping[EffectPlace, str]] = {
    "profile": "in the profile of a role",
    "document": "in another document",
    "agent": "in the file of an agent of another format",
}


def list_effects(code: str, severity: Severity) -> Mapping[EffectPlace, RuleEffect]:
    """What a finding with this code and severity takes out of service, by its place.

    The subordinates of a role that is out of service stay in service (docs/adr/0100).

    >>> list_effects("ORG502", Severity.ERROR)["profile"], list_effects("ORG204", Severity.ERROR)["profile"]
    ('this role', 'the organization')
    """
    if severity is not Severity.ERROR or code in OF_CASES:
        return dict.fromkeys(PLACES, "nothing")
    if code in OF_ALL:
        return dict.fromkeys(PLACES, "the organization")
    is_harmless = code in HARMLESS_IN_ROLES
    return {
        "profile": "nothing" if is_harmless else "this role",
        "document": "this skill or procedure" if code in OF_ONE_SKILL else "the organization",
        "agent": "nothing" if is_harmless or code in WITHOUT_EFFECT else "this agent",
    }
