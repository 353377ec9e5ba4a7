"""The tools: what an agent can ask about itself and its organization. Each asks the kernel or one operation, and renders."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from orgkernel.decisions.access.decision import AccessExplanation, AccessRow
from orgkernel.decisions.access.layer import NEUTRAL
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.state_records import KeyScope
from orgkernel.decisions.state_view import Grant
from orgkernel.diagnostics.validation_text import describe_unfit
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp import shapes
from orgkernel.mcp.asker import Asker
from orgkernel.mcp.resources import roles_of, uris_of
from orgkernel.mcp.words import because, decision_text, plain
from orgkernel.operations.grantors import find_grantors
from orgkernel.operations.permissions import RequestDraft, ask
from orgkernel.operations.reports import hand_in_report
from orgkernel.runtime.salute import Situation
from orgkernel.runtime.utc import as_utc

MOST_BYTES = 64 * 1024
"""Bytes of the arguments of a call, as of a body over HTTP."""
_MOST_ROWS, _MOST_SUBJECTS, _COUNTED = 200, 50, 3
_SUBJECT_WORDS = frozenset(
    {"subject", "agent", "as", "on_behalf_of", "via", "envelope", "org", "org_id", "requester"}
)
# What a run is, which only the host knows: it is settled by how the server was started.
_OF_HOST = frozenset({"now", "utc_offset"})
_WORST_FIRST = ("deny", "ask", "conditional", "allow")

ToolReply = tuple[shapes.ToolAnswer, str]
"""A structured answer, and the text of the first block; empty for the answer as JSON."""


class McpTool(NamedTuple):
    """A tool, and what answers it."""

    name: str
    description: str
    arguments: type[shapes.Arguments]
    answer: type[shapes.ToolAnswer]
    run: Callable[[Asker, Any], Awaitable[ToolReply]]
    needs: KeyScope = "read"
    """The scope that a credential needs."""

    @property
    def only_reads(self) -> bool:
        """Whether it changes nothing."""
        return self.needs == "read"


def read_arguments(tool: McpTool, said: Mapping[str, Any] | None) -> shapes.Arguments:
    """The arguments of a call. Raises `UsageError`."""
    given = dict(said or {})
    if len(msgspec.json.encode(given)) > MOST_BYTES:
        raise UsageError(f"the arguments have more than {MOST_BYTES} bytes", "send less")
    known = [field.encode_name for field in msgspec.structs.fields(tool.arguments)]
    for name in given:
        if name in known:
            continue
        if name in _SUBJECT_WORDS or name == "role":
            raise UsageError(
                f"the argument {quote(name)} cannot say who asks",
                "leave it out: the subject comes from the options of the server or from the key, and from nothing else",
            )
        help = did_you_mean(name, known) or (
            f"arguments are {listing(known)}" if known else "it has no arguments"
        )
        raise UsageError(f"{quote(tool.name)} has no argument {quote(name)}", help)
    try:
        return msgspec.convert(given, tool.arguments)
    except msgspec.ValidationError as error:
        message, place = describe_unfit(error)
        where = f" at {quote(place.removeprefix('.'))}" if place else ""
        raise UsageError(
            f"the arguments do not fit{where}: {message}", f"see the schema of {quote(tool.name)}"
        ) from None


# -- who am I ----------------------------------------------------------------------------------------------------------


async def _who_am_i(asker: Asker, _: shapes.NoArguments) -> ToolReply:
    def look(kernel: Kernel) -> shapes.Me:
        snapshot = kernel.organization(asker.org_id).snapshot
        kind, _, name = asker.subject.partition(":")
        me: dict[str, Any] = {}
        roles = roles_of(snapshot.index, asker.subject)
        if kind == "agent":
            agent = kernel.agent_manifest(asker.org_id, name)
            rank = "" if agent.rank is None else agent.rank.id
            me = {
                "name": agent.callsign,
                "description": agent.description,
                "rank": rank,
                "lifecycle": agent.lifecycle,
            }
        manifests = [kernel.manifest(asker.org_id, role) for role in roles]
        if kind == "role":
            me = {"name": manifests[0].role_name, "description": manifests[0].description}
        elif kind == "person" and name in snapshot.records.people:
            me = {"name": snapshot.records.people[name].record.name}
        return shapes.Me(
            subject=asker.subject,
            organization=asker.org_id,
            roles=roles,
            reports_to=_each(member.id for role in manifests for member in role.chain_of_command[:1]),
            commands=_each(member.id for role in manifests for member in role.subordinates),
            domains=_each(domain.id for role in manifests for domain in role.domains if domain.chosen),
            tier=next((role.pace.current for role in manifests if role.pace.current), ""),
            manifests=uris_of(asker.org_id, roles),
            snapshot=snapshot.digest,
            **me,
        )

    return await asker.ask(look), ""


def _each(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


# -- what can I do -----------------------------------------------------------------------------------------------------


async def _what_can_i_do(asker: Asker, asked: shapes.WhatCanArguments) -> ToolReply:
    def look(kernel: Kernel) -> shapes.PermissionList:
        rows = kernel.what_can(asker.org_id, asker.subject, request=asker.base, kinds=[asked.kind])
        grouped: dict[str, list[AccessRow]] = {}
        for row in rows:
            grouped.setdefault(row.resource, []).append(row)
        shown = [_permission(resource, found) for resource, found in list(grouped.items())[:_MOST_ROWS]]
        return shapes.PermissionList(
            can=tuple(shown), more=len(grouped) - len(shown), **_version(kernel, asker)
        )

    return await asker.ask(look), ""


def _permission(resource: str, rows: list[AccessRow]) -> shapes.ResourcePermission:
    def actions(*outcomes: str) -> tuple[str, ...]:
        return _each(action for row in rows if row.outcome in outcomes for action in row.actions)

    return shapes.ResourcePermission(
        resource=resource,
        level=rows[0].level,
        allowed=actions("allow"),
        ask=actions("ask"),
        # A row that is denied is listed because a circumstance could open it.
        conditional=actions("conditional", "deny"),
        depends_on=_each(each for row in rows for each in row.conditions),
    )


def _version(kernel: Kernel, asker: Asker) -> dict[str, Any]:
    return {
        "snapshot": kernel.organization(asker.org_id).snapshot.digest,
        "state_version": kernel.answer_version.stored_version,
    }


# -- may I, and why ----------------------------------------------------------------------------------------------------


async def _may_i(asker: Asker, asked: shapes.MayArguments) -> ToolReply:
    requests = [_request(asker, asked, resource) for resource in _resources(asked)]
    answered = [await asker.decide(request) for request in requests]
    order = [_WORST_FIRST.index(each[0].outcome) for each in answered]
    worst = order.index(min(order))
    decision, reasons, row = answered[worst]
    request = requests[worst]
    explanation: AccessExplanation | None = None
    grantors: tuple[str, ...] = ()
    if decision.outcome != "allow":
        explanation, grantors = await asker.ask(lambda kernel: _explain(kernel, asker, request))
    answer = shapes.MayAnswer(
        outcome=decision.outcome, code=decision.code, codes=decision.codes, reasons=reasons,
        level_required=decision.level_required, level_effective=decision.level_effective,
        obligations=decision.obligations,
        paths=tuple(
            shapes.PathAnswer(path=path, outcome=each[0].outcome, code=each[0].code)
            for path, each in zip(asked.paths, answered, strict=False)
        ),
        snapshot=decision.snapshot, state_version=decision.state_version, audit=row,
        **_ways(explanation, grantors),
    )  # fmt: skip
    text = decision_text(
        _sentence(request), decision, reasons, explanation, grantors, _how_to_ask(asker, request)
    )
    return answer, text


async def _why(asker: Asker, asked: shapes.MayArguments) -> ToolReply:
    requests = [_request(asker, asked, resource) for resource in _resources(asked)]

    def look(kernel: Kernel) -> tuple[AccessRequest, AccessExplanation, tuple[str, ...]]:
        decisions = [kernel.decide(asker.org_id, request) for request in requests]
        order = [_WORST_FIRST.index(each.outcome) for each in decisions]
        request = requests[order.index(min(order))]
        return request, *_explain(kernel, asker, request)

    request, found, grantors = await asker.ask(look)
    decision = found.decision
    layers = tuple(
        shapes.LayerStep(
            layer=line.layer,
            statement=line.statement,
            change=f"{line.value} {line.before} to {line.after}" if line.value else "",
            lines=_each(f"{why.file}:{why.line}" for why in line.why),
        )
        for line in found.trace
    )
    answer = shapes.WhyAnswer(
        outcome=decision.outcome, codes=decision.codes, reasons=found.reasons, layers=layers,
        snapshot=decision.snapshot, state_version=decision.state_version, **_ways(found, grantors),
    )  # fmt: skip
    text = decision_text(
        _sentence(request), decision, found.reasons, found, grantors, _how_to_ask(asker, request)
    )
    steps = [
        f"{each.layer}: {plain(each.statement)}"
        + (f" ({', '.join(map(plain, each.lines[:3]))})" if each.lines else "")
        for each in layers
        if each.change or each.statement != NEUTRAL
    ]
    return answer, "\n".join([text, *(["layer by layer:"] if steps else []), *steps])


def _resources(asked: shapes.MayArguments) -> tuple[str, ...]:
    """The resource, or each of the paths as a part of it. Raises `UsageError`."""
    kind, _, name = asked.resource.partition(":")
    if not kind or not name:
        raise UsageError(
            f"the resource {quote(asked.resource)} has no kind",
            f"write it as `KIND:ID`, such as {quote(f'tool:{asked.resource}')}",
        )
    if not asked.paths:
        return (asked.resource,)
    if kind != "tool" or ":" in name:
        raise UsageError("only a tool has paths", "name it as `tool:ID`, and its files in `paths`")
    return tuple(f"{asked.resource}:{path}" for path in asked.paths)


def _request(asker: Asker, asked: shapes.MayArguments, resource: str) -> AccessRequest:
    """The question in the name of the asker. What the server was started with counts; arguments add what it leaves open.

    Raises `UsageError`.
    """
    settled = msgspec.to_builtins(asker.base.context)
    said = dict(asked.context)
    for name, value in said.items():
        if name in _SUBJECT_WORDS or name in _OF_HOST:
            raise UsageError(
                f"the context cannot say {quote(name)}",
                "leave it out: it comes from the options of the server, and from nothing else",
            )
        if name not in AccessContext.__struct_fields__:
            known = [each for each in AccessContext.__struct_fields__ if each not in _OF_HOST]
            help = did_you_mean(name, known) or f"known names are {listing(known, len(known))}"
            raise UsageError(f"unknown name {quote(name)} in the context", help)
        if name in settled and settled[name] != value:
            raise UsageError(
                f"the context says another {quote(name)} than the server was started with", "leave it out"
            )
    try:
        context = msgspec.convert({**said, **settled}, AccessContext)
    except msgspec.ValidationError as error:
        message, place = describe_unfit(error)
        raise UsageError(
            f"the context has a bad value at {quote(place.removeprefix('.'))}: {message}"
        ) from None
    return msgspec.structs.replace(asker.base, action=asked.action, resource=resource, context=context)


def _explain(
    kernel: Kernel, asker: Asker, request: AccessRequest
) -> tuple[AccessExplanation, tuple[str, ...]]:
    """Why, and who could grant what is missing."""
    found = kernel.explain(asker.org_id, request, counted=_COUNTED)
    for remedy in found.remedies:
        for change in remedy.changes:
            if change.kind == "grant":
                wanted = Grant(
                    "", change.subject or asker.subject, (change.value,), change.level or "full",  # type: ignore[arg-type]
                    change.waives, asker.org_id,  # type: ignore[arg-type]
                )  # fmt: skip
                return found, find_grantors(kernel, wanted)
    return found, ()


def _ways(found: AccessExplanation | None, grantors: tuple[str, ...]) -> dict[str, Any]:
    if found is None or found.decision.outcome == "allow":
        return {}
    return {
        "smallest_changes": tuple(remedy.text for remedy in found.remedies[:5]),
        "who_can_grant": grantors,
        "who_can": found.who_can.subjects,
    }


def _sentence(request: AccessRequest) -> str:
    return f"{quote(request.subject)} {quote(request.action)} {quote(request.resource)}"


def _how_to_ask(asker: Asker, request: AccessRequest) -> str:
    """How to ask for it, where it can be asked for."""
    if not asker.may("request") or request.resource.startswith("role:"):
        return ""
    said = {"resource": request.resource, "action": request.action, "reason": "…"}
    return f"to ask for it: call `request_access` with {plain(msgspec.json.encode(said).decode())}"


# -- who can, and who takes this ---------------------------------------------------------------------------------------


async def _who_can(asker: Asker, asked: shapes.WhoCanArguments) -> ToolReply:
    _resources(shapes.MayArguments(resource=asked.resource))

    def look(kernel: Kernel) -> shapes.WhoCanAnswer:
        rows = kernel.who_can(asker.org_id, asked.action, asked.resource)
        by_outcome = {
            outcome: _each(row.subject for row in rows if row.outcome == outcome) for outcome in _WORST_FIRST
        }
        shown = {outcome: found[:_MOST_SUBJECTS] for outcome, found in by_outcome.items()}
        return shapes.WhoCanAnswer(
            allow=shown["allow"], ask=shown["ask"], conditional=_each((*shown["conditional"], *shown["deny"])),
            more=sum(len(found) - len(shown[outcome]) for outcome, found in by_outcome.items()),
            **_version(kernel, asker),
        )  # fmt: skip

    return await asker.ask(look), ""


async def _who_takes_this(asker: Asker, asked: shapes.WhoTakesArguments) -> ToolReply:
    if sum(each is not None for each in (asked.task, asked.domain, asked.intent)) != 1:
        raise UsageError("exactly one of `task`, `domain` and `intent` is needed", "name one of them")

    def look(kernel: Kernel) -> shapes.WhoTakesAnswer:
        found = kernel.dispatch(
            asker.org_id, asked.domain, intent=asked.intent, text=asked.task, needs=asked.needs
        )
        may = None
        if found.role_id is not None:
            request = msgspec.structs.replace(asker.base, action="dispatch", resource=f"role:{found.role_id}")
            may = kernel.decide(asker.org_id, request).outcome
        return shapes.WhoTakesAnswer(
            outcome=found.outcome, role=found.role_id or "", name=found.role_name or "", you_may_dispatch=may,
            plans=found.plans, reasons=tuple(because(found.reasons)), considered=_each(each.role_id for each in found.considered),
            snapshot=found.snapshot,
        )  # fmt: skip

    return await asker.ask(look), ""


# -- request access, and report ----------------------------------------------------------------------------------------


async def _request_access(asker: Asker, asked: shapes.RequestArguments) -> ToolReply:
    _resources(shapes.MayArguments(resource=asked.resource))
    draft = RequestDraft(
        resources=(asked.resource,), action=asked.action, level=asked.level, reason=asked.reason, org_id=asker.org_id,
    )  # fmt: skip
    made = await asker.operate(lambda context: ask(context, draft))
    wanted = Grant(
        "", made.requester, made.resources, made.level, made.waives, asker.org_id, action=made.action
    )
    answer = shapes.RequestAnswer(
        request_id=made.request_id, status=made.status, resource=asked.resource, level=made.level,
        expires_at=as_utc(made.expires_at) or "",
        who_can_grant=await asker.ask(lambda kernel: find_grantors(kernel, wanted)),
    )  # fmt: skip
    granted = f"{listing(answer.who_can_grant)}, or an operator" if answer.who_can_grant else "an operator"
    return answer, (
        f"{answer.status}: request `{answer.request_id}` for {quote(asked.resource)}, until {answer.expires_at}\n"
        f"who can grant it: {granted}, with `orgkernel request approve {answer.request_id}`\n"
        "ask `may_i` again later: nothing is allowed before the request is approved"
    )


async def _report(asker: Asker, asked: shapes.ReportArguments) -> ToolReply:
    role = await asker.ask(lambda kernel: _reporting_role(kernel, asker, asked.role))
    situation = Situation(
        role_id=role, now=time.time(), tier=asked.tier, state=asked.state, task=asked.task,
        plan=asked.plan, plan_steps=asked.steps, plan_steps_done=asked.steps_done,
        failures_consecutive=asked.failures, files_modified=asked.files_modified,
    )  # fmt: skip
    report = await asker.ask(lambda kernel: kernel.report(asker.org_id, situation))
    receipt = await asker.operate(lambda context: hand_in_report(context, report))
    status = report["status"]
    return shapes.ReportAnswer(
        outcome=receipt.outcome,
        role=role,
        state=status["state"],
        tier=status["pace_level"],
        health=status["health"],
    ), ""


def _reporting_role(kernel: Kernel, asker: Asker, named: str | None) -> str:
    """The role that reports: the only one of the subject, or the one it names among its own. Raises `UsageError`."""
    roles = roles_of(kernel.organization(asker.org_id).snapshot.index, asker.subject)
    if not roles:
        raise UsageError(f"{quote(asker.subject)} fills no role, and only roles report", "ask who fills one")
    if named is None and len(roles) > 1:
        raise UsageError(f"{quote(asker.subject)} fills several roles", f"name the `role`: {listing(roles)}")
    if named is not None and named not in roles:
        raise UsageError(
            f"{quote(asker.subject)} does not fill role {quote(named)}, and cannot report for it",
            f"it fills {listing(roles)}",
        )
    return named or roles[0]


TOOLS: tuple[McpTool, ...] = (
    McpTool("who_am_i", "Your role, your superiors, and whom you command.", shapes.NoArguments, shapes.Me, _who_am_i),
    McpTool(
        "what_can_i_do", "What you may use now, and what needs an approval first.", shapes.WhatCanArguments,
        shapes.PermissionList, _what_can_i_do,
    ),
    McpTool(
        "may_i", "Ask before you act: may you do this? A refusal says why and what would change it.",
        shapes.MayArguments, shapes.MayAnswer, _may_i,
    ),
    McpTool("why", "Why you may or may not do this, layer by layer.", shapes.MayArguments, shapes.WhyAnswer, _why),
    McpTool("who_can", "Who else may do this.", shapes.WhoCanArguments, shapes.WhoCanAnswer, _who_can),
    McpTool(
        "who_takes_this", "Which role takes this work. Nothing is handed over.", shapes.WhoTakesArguments,
        shapes.WhoTakesAnswer, _who_takes_this,
    ),
    McpTool(
        "request_access", "Ask for a permission that you lack. Somebody else decides.", shapes.RequestArguments,
        shapes.RequestAnswer, _request_access, "request",
    ),
    McpTool(
        "report", "Report your status to your superiors.", shapes.ReportArguments, shapes.ReportAnswer, _report,
        "report",
    ),
)  # fmt: skip
BY_NAME = {tool.name: tool for tool in TOOLS}


def tools_for(asker: Asker) -> tuple[McpTool, ...]:
    """The tools that a credential is good for, always in the same order."""
    return tuple(tool for tool in TOOLS if asker.may(tool.needs))
