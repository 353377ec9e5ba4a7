"""Propose changes from the use of tools: remove unused tools, and require approval for tools that are often refused
to a role.

There is no proposal for a role with a short history, and no removal from a role that never called a tool, because
its needs are unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, get_args

import msgspec

from orgkernel.decisions.access.decision import AccessExplanation, Remedy, RemedyChange
from orgkernel.decisions.access.identity import identify
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import clean, listing, quote
from orgkernel.documents.records import LEVELS, Tool, ToolLevel
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.gateway.bindings import map_server_tools
from orgkernel.operations.grantors import find_grantors
from orgkernel.operations.reports.tool_use import ObservedUse, RefusedUse

UseProposalKind = Literal["remove", "lower", "ask", "grant", "declare"]
NARROWING: tuple[UseProposalKind, ...] = ("remove", "lower")


class UseProposal(msgspec.Struct, frozen=True, kw_only=True):
    """One change of a role's permissions."""

    kind: UseProposalKind
    role: str
    tool: str
    """The declared tool."""
    level: ToolLevel | None = None
    """The level that the role would have; None for none."""
    text: str
    because: str
    file: str = ""
    line: int = 0
    by_hand: str = ""
    """Why it is not in the diff; empty where it is."""
    commands: tuple[str, ...] = ()
    """Commands that grant it instead."""
    grantors: tuple[str, ...] = ()
    """Subjects that may grant it, besides an operator."""


def propose_narrowing(
    view: OrgView,
    servers: Iterable[str],
    served: Mapping[str, Collection[str]],
    use: ObservedUse,
    roles: Iterable[str],
) -> Iterator[UseProposal]:
    """Propose to remove tools and levels of these servers that no agent in these roles used.

    `served` maps declared tools to the names of the tools on their servers.
    """
    tools = {tool_id: tool for server in servers for tool_id, tool in map_server_tools(view, server).items()}
    for role in roles:
        levels = view.get_tool_levels(role)
        for edge in view.list_tools(role):
            if edge.target in tools:
                used = use.actions.get((role, edge.target), frozenset())
                proposal = _propose_narrowing(
                    role, edge.target, tools[edge.target], levels[edge.target], used, edge.place
                )
                if proposal is not None:
                    yield proposal
                    continue
                called = use.names.get((role, edge.target), frozenset())
                covered = set(served.get(edge.target, ()))
                if called & covered and covered - called and len(tools[edge.target].required_levels) == 1:
                    yield _split(role, edge.target, sorted(called & covered), len(covered), edge.place)


def _split(role: str, tool_id: str, called: list[str], count: int, place: Place) -> UseProposal:
    return UseProposal(
        kind="declare", role=role, tool=tool_id, file=place.file, line=place.line,
        text=f"declare the tools behind {quote(tool_id)} one by one, and give role {quote(role)} those that it needs",
        because=f"it has called {len(called)} of {count} ({listing(map(clean, called))})",
        by_hand="one entry of the catalog covers all of them",
    )  # fmt: skip


def _propose_narrowing(
    role: str, tool_id: str, tool: Tool, level: ToolLevel, used: frozenset[str], place: Place
) -> UseProposal | None:
    if not used:
        return UseProposal(
            kind="remove", role=role, tool=tool_id, file=place.file, line=place.line,
            text=f"remove {quote(tool_id)} from role {quote(role)}", because="no agent in this role has called it",
        )  # fmt: skip
    required = tool.required_levels
    needed = max((LEVELS.index(required[each]) for each in used if each in required), default=None)
    if needed is None:
        return None  # the call is not one of its actions, so the needed level is unknown
    lost = [each for each, of in required.items() if needed < LEVELS.index(of) <= LEVELS.index(level)]
    if not lost:
        return None
    return UseProposal(
        kind="lower", role=role, tool=tool_id, level=LEVELS[needed], file=place.file, line=place.line,
        text=f"lower {quote(tool_id)} of role {quote(role)} from {level} to {LEVELS[needed]}",
        because=f"no agent in this role has called {listing(lost)}",
    )  # fmt: skip


def propose_asking(
    kernel: Kernel, org_id: str, use: ObservedUse, roles: Iterable[str], often: int
) -> Iterator[UseProposal]:
    """Tools that these roles were refused at least so often. Raises `StoreError`."""
    known = set(roles)
    for (role, tool_id), refused in use.refused.items():
        if role in known and refused.times >= often:
            proposal = _propose_opening(kernel, org_id, role, tool_id, refused)
            if proposal is not None:
                yield proposal


def _propose_opening(
    kernel: Kernel, org_id: str, role: str, tool_id: str, refused: RefusedUse
) -> UseProposal | None:
    because = f"it was refused {refused.times} times ({listing(refused.codes)})"
    view = kernel.organization(org_id).snapshot.index
    if tool_id not in view.records.tools:
        return UseProposal(
            kind="declare", role=role, tool=tool_id, because=because,
            text=f"declare {quote(tool_id)}, if role {quote(role)} should have it", by_hand="no document declares the tool",
        )  # fmt: skip
    subject, action = next(iter(refused.asked))
    request = AccessRequest(f"role:{role}", action, f"tool:{tool_id}")
    explanation = kernel.why(org_id, request)
    if (
        explanation.decision.outcome != "deny"
    ):  # the role may do it, but an agent that fills it can still be refused
        request = AccessRequest(subject, action, f"tool:{tool_id}")
        explanation = kernel.why(org_id, request)
    if explanation.decision.outcome != "deny":
        return None  # it is no longer refused, or only in circumstances that the audit does not have
    who = identify(view, subject)
    several = who is not None and len(who.roles) > 1
    grant = _find_single_change(explanation.remedies, "grant")
    grantors = () if grant is None else find_grantors(kernel, _build_grant(grant[1], org_id, request.subject))
    commands = () if grant is None else grant[0].commands
    equip = _find_single_change(explanation.remedies, "equip", f"role:{role}")
    level = _get_level(explanation)
    if equip is not None and equip[1].value == f"tool:{tool_id}" and level is not None:
        has = tool_id in view.get_tool_levels(role)
        edit = equip[0].edits[0] if equip[0].edits else None
        return UseProposal(
            kind="ask", role=role, tool=tool_id, level=level, because=because, commands=commands, grantors=grantors,
            file=edit.file if edit else "", line=edit.line if edit else 0,
            text=f"let role {quote(role)} have {quote(tool_id)} at level {level}, and ask first",
            by_hand="the role has it at a lower level, which would have to ask as well"
            if has
            else f"{subject} fills several roles, and one of them is enough"
            if several
            else "",
        )  # fmt: skip
    remedy = grant[0] if grant is not None else next(iter(explanation.remedies), None)
    return UseProposal(
        kind="grant", role=role, tool=tool_id, level=level, because=because, commands=commands, grantors=grantors,
        text=f"{remedy.text}, if role {quote(role)} should have it" if remedy else f"leave {quote(tool_id)} to other roles: no change would allow it",
        by_hand="no edit of a profile would allow it",
    )  # fmt: skip


def _find_single_change(
    remedies: Iterable[Remedy], kind: str, subject: str = ""
) -> tuple[Remedy, RemedyChange] | None:
    """The first remedy that is a single change of a kind, for the subject if one is named."""
    for each in remedies:
        change = each.changes[0] if len(each.changes) == 1 else None
        if change is not None and change.kind == kind and subject in ("", change.subject):
            return each, each.changes[0]
    return None


def _build_grant(change: RemedyChange, org_id: str, subject: str) -> Grant:
    level = _parse_level(change.level) or "full"
    return Grant("", change.subject or subject, (change.value,), level, change.waives, org_id)  # type: ignore[arg-type]


def _get_level(explanation: AccessExplanation) -> ToolLevel | None:
    return _parse_level(explanation.decision.level_required)


def _parse_level(text: str) -> ToolLevel | None:
    return next((each for each in get_args(ToolLevel) if each == text), None)
