"""Refusals in place of results. The full message is in the first text block, because hosts drop the others."""

from __future__ import annotations

import json
from typing import Any

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.reasons import Why
from orgkernel.diagnostics.wording import clean, quote
from orgkernel.loading.formats.names import build_tool_id
from orgkernel.mcp.explaining import explain_how_to_ask, explain_to, write_question
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.words import clean_sentence, list_places, quote_whole, write_decision
from orgkernel.toolbox.result import Step


def build_error_result(text: str, **about: Any) -> dict[str, Any]:
    """A result that is an error, in the words of MCP."""
    call_result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
    if about:
        call_result["_meta"] = {f"orgkernel/{name}": value for name, value in about.items()}
    return call_result


async def build_refusal(
    caller: GatewayCaller, request: AccessRequest, step: Step, waiting: str = ""
) -> dict[str, Any]:
    """The answer to a call that is not allowed. `waiting` describes the request for an approval."""
    text = await write_refusal(caller, request, waiting)
    return build_error_result(text, outcome=step.outcome, code=step.code, audit=step.audit_id)


def build_undeclared_refusal(subject: str, server: str, name: str, step: Step) -> dict[str, Any]:
    """The answer to a call of a tool that no document declares, with the declaration that is missing."""
    tool_id = build_tool_id(server, name)
    declaration = json.dumps({tool_id: {"type": "mcp_server", "provider": server, "names": {"mcp": name}}})
    text = (
        f"deny: {quote(subject)} `use` {quote(f'tool:{tool_id}')}\n"
        f"because no document declares {quote(name)} of server {quote(server)} [{step.code}]\n"
        "what to do: an author of the documents declares it under `tools` of a tool catalog, with its `side_effects` or "
        f"`actions`, and gives it to a role: {quote_whole(declaration)}"
    )
    return build_error_result(text, outcome=step.outcome, code=step.code, audit=step.audit_id)


async def write_refusal(caller: GatewayCaller, request: AccessRequest, waiting: str = "") -> str:
    """Why something is not allowed, and what to do."""
    explanation, grantors = await caller.ask(lambda kernel: explain_to(kernel, caller, request))
    if explanation.decision.outcome == "allow":  # the missing permission has been granted in the meantime
        return f"deny: {clean_sentence(write_question(request))}\nit is allowed now: call again"
    asking = "" if waiting else explain_how_to_ask(caller, request, explanation.remedies)
    return write_decision(
        write_question(request),
        explanation.decision,
        explanation.reasons,
        explanation,
        grantors,
        asking,
        waiting,
    )


def build_no_result(step: Step, server: str, name: str) -> dict[str, Any]:
    """The answer to a call that was allowed and has no result."""
    why: tuple[Why, ...] = step.why
    text = f"{step.outcome}: {quote(name)} of server {quote(server)}: {clean_sentence(clean(step.text))}{list_places(why)} [{step.code}]"
    if step.metadata.get("uncertain"):
        text += "\nit might have had an effect: check before you call it again"
    return build_error_result(text, outcome=step.outcome, code=step.code, audit=step.audit_id)
