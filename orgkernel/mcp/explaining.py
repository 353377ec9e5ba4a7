"""Explain refusals: the reason, who can grant the missing permission, and how to request it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from orgkernel.decisions.access.decision import AccessExplanation, Outcome, Remedy
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.diagnostics.wording import quote
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.asker import Asker
from orgkernel.mcp.words import clean_sentence
from orgkernel.operations.asking import select_smallest_grant
from orgkernel.operations.grantors import find_grantors

_REMEDIES_WITH_EFFECTS = 3
WORST_FIRST: Final[tuple[Outcome, ...]] = ("deny", "ask", "conditional", "allow")


def find_worst(outcomes: Iterable[Outcome]) -> int:
    """Find the place of the first outcome that is worst for the caller."""
    order = [WORST_FIRST.index(each) for each in outcomes]
    return order.index(min(order))


def explain_to(
    kernel: Kernel, asker: Asker, request: AccessRequest
) -> tuple[AccessExplanation, tuple[str, ...]]:
    """Explain a decision: the reason, and who can grant the missing permission."""
    explanation = kernel.why(asker.org_id, request, counted=_REMEDIES_WITH_EFFECTS)
    for remedy in explanation.remedies:
        for change in remedy.changes:
            if change.kind == "grant":
                wanted = Grant(
                    "", change.subject or asker.subject, (change.value,), change.level or "full",  # type: ignore[arg-type]
                    change.waives, asker.org_id,  # type: ignore[arg-type]
                )  # fmt: skip
                return explanation, find_grantors(kernel, wanted)
    return explanation, ()


def write_question(request: AccessRequest) -> str:
    """Write the question that was decided."""
    return f"{quote(request.subject)} {quote(request.action)} {quote(request.resource)}"


def explain_how_to_ask(asker: Asker, request: AccessRequest, remedies: Iterable[Remedy]) -> str:
    """Explain how to request the permission, if a grant of it would be enough and the asker can request it."""
    if not asker.may("request") or not asker.has_self_service:
        return ""
    if select_smallest_grant(remedies, request.subject) is None:
        return ""
    tool = f"{asker.tool_prefix}request_access"
    tool_arguments = {"resource": request.resource, "action": request.action, "reason": "…"}
    return f"to ask for it: call `{tool}` with {clean_sentence(msgspec.json.encode(tool_arguments).decode())}"
