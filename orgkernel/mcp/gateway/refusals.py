"""What a caller reads instead of a result. All of it is in the first text block, because hosts drop the rest."""

from __future__ import annotations

from typing import Any

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.reasons import Why
from orgkernel.diagnostics.wording import clean, quote
from orgkernel.mcp.explaining import explain_to, how_to_ask, sentence_of
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.words import decision_text, places, plain
from orgkernel.toolbox.result import Step

ASKING = "orgkernel__request_access"
"""The tool with which a caller asks for a permission."""


def error_result(text: str, **about: Any) -> dict[str, Any]:
    """A result that is an error, in the words of MCP."""
    said: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
    if about:
        said["_meta"] = {f"orgkernel/{name}": value for name, value in about.items()}
    return said


async def refusal(
    caller: GatewayCaller, request: AccessRequest, step: Step, waiting: str = ""
) -> dict[str, Any]:
    """The answer to a call that is not allowed. `waiting` says what became of a request for it."""
    text = await refusal_text(caller, request, waiting)
    return error_result(text, outcome=step.outcome, code=step.code, audit=step.audit_id)


async def refusal_text(caller: GatewayCaller, request: AccessRequest, waiting: str = "") -> str:
    """Why something is not allowed, and what to do."""
    found, grantors = await caller.ask(lambda kernel: explain_to(kernel, caller, request))
    if found.decision.outcome == "allow":  # what was missing a moment ago is there now
        return f"deny: {plain(sentence_of(request))}\nit is allowed now: call again"
    asking = "" if waiting else how_to_ask(caller, request, ASKING)
    return decision_text(
        sentence_of(request), found.decision, found.reasons, found, grantors, asking, waiting
    )


def no_result(step: Step, server: str, name: str) -> dict[str, Any]:
    """The answer to a call that was allowed and has no result."""
    why: tuple[Why, ...] = step.why
    text = f"{step.outcome}: {quote(name)} of server {quote(server)}: {plain(clean(step.text))}{places(why)} [{step.code}]"
    if step.metadata.get("uncertain"):
        text += "\nit may have had an effect: look before you call it again"
    return error_result(text, outcome=step.outcome, code=step.code, audit=step.audit_id)
