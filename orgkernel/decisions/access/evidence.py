"""What a code means in one decision: a sentence, and the lines it rests on."""

from __future__ import annotations

from orgkernel.decisions.access import (
    reasons_of_command,
    reasons_of_identity,
    reasons_of_policies,
    reasons_of_the_run,
)
from orgkernel.decisions.access.case import Case
from orgkernel.decisions.reasons import Reason

_SAYERS = {
    **reasons_of_identity.SAYERS,
    **reasons_of_command.SAYERS,
    **reasons_of_policies.SAYERS,
    **reasons_of_the_run.SAYERS,
}


def give_reason(case: Case, name: str) -> Reason:
    """The reason behind a code."""
    text, why = _SAYERS[name](case)
    return Reason(name, text, why)
