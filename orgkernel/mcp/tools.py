"""The tools with which an agent asks about itself and its organization.

Each asks the kernel or one operation, and renders.

A question has the name of its command and of its `Kernel` method. The subject is the caller, so no argument names
it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from orgkernel.decisions.access.decision import AccessExplanation, AccessRow
from orgkernel.decisions.access.layer import NEUTRAL, WAIVERS
from orgkernel.decisions.access.layers.structure import UNKNOWN
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.dispatch.agent_choice import AgentChoice
from orgkernel.decisions.dispatch.task_state import DispatchContext
from orgkernel.decisions.evidence.state_records import KeyScope
from orgkernel.decisions.evidence.state_view import Grant, Waiver
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import Refused, UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp import shapes
from orgkernel.mcp.arguments import build_request, list_resources_in
from orgkernel.mcp.asker import Asker
from orgkernel.mcp.explaining import WORST_FIRST, explain_how_to_ask, explain_to, find_worst, write_question
from orgkernel.mcp.resources import build_role_uris, list_roles
from orgkernel.mcp.words import clean_sentence, write_decision, write_reasons
from orgkernel.operations.approvals import describe_missing, find_needs
from orgkernel.operations.asking import NOTHING_TO_ASK, list_principals, select_smallest_grant
from orgkernel.operations.decisions import NEEDS_REPORT
from orgkernel.operations.grantors import find_grantors
from orgkernel.operations.permissions import RequestDraft, ask
from orgkernel.operations.reports.submission import hand_in_report
from orgkernel.prepared_types import prepared
from orgkernel.runtime.salute import Situation
from orgkernel.runtime.utc import as_utc

_USE_IT = "it is granted for a number of uses: make the call, which uses one up, because asking uses up none"
_MAX_ROWS, _MAX_SUBJECTS = 200, 50

ToolReply = tuple[shapes.ToolAnswer, str]
"""A structured answer, and the text of the first block; if empty, the answer as JSON."""


class McpTool(NamedTuple):
    """A tool, and the function that answers it."""

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


# -- who am I ----------------------------------------------------------------------------------------------------------


async def _answer_who_am_i(asker: Asker, _: shapes.NoArguments) -> ToolReply:
    def look(kernel: Kernel) -> shapes.Me:
        snapshot = kernel.organization(asker.org_id).snapshot
        kind, _, name = asker.subject.partition(":")
        me: dict[str, Any] = {}
        roles = list_roles(snapshot.index, asker.subject)
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
            reports_to=_list_each(member.id for role in manifests for member in role.chain_of_command[:1]),
            commands=_list_each(member.id for role in manifests for member in role.subordinates),
            domains=_list_each(domain.id for role in manifests for domain in role.domains if domain.chosen),
            tier=next((role.pace.current for role in manifests if role.pace.current), ""),
            manifests=build_role_uris(asker.org_id, roles),
            snapshot=snapshot.digest,
            **me,
        )

    return await asker.ask(look), ""


def _list_each(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


# -- what can -----------------------------------------------------------------------------------------------------


async def _answer_what_can(asker: Asker, arguments: shapes.WhatCanArguments) -> ToolReply:
    def look(kernel: Kernel) -> shapes.PermissionList:
        rows = kernel.what_can(asker.org_id, asker.subject, request=asker.base, kinds=[arguments.kind])
        grouped: dict[str, list[AccessRow]] = {}
        for row in rows:
            grouped.setdefault(row.resource, []).append(row)
        shown = [
            _build_permission(resource, resource_rows)
            for resource, resource_rows in list(grouped.items())[:_MAX_ROWS]
        ]
        return shapes.PermissionList(
            can=tuple(shown), more=len(grouped) - len(shown), **_build_version(kernel, asker)
        )

    return await asker.ask(look), ""


def _build_permission(resource: str, rows: list[AccessRow]) -> shapes.ResourcePermission:
    def actions(*outcomes: str) -> tuple[str, ...]:
        return _list_each(action for row in rows if row.outcome in outcomes for action in row.actions)

    return shapes.ResourcePermission(
        resource=resource,
        level=rows[0].level,
        allowed=actions("allow"),
        ask=actions("ask"),
        # A denied row is listed because a circumstance could allow it.
        conditional=actions("conditional", "deny"),
        depends_on=_list_each(each for row in rows for each in row.conditions),
    )


def _build_version(kernel: Kernel, asker: Asker) -> dict[str, Any]:
    return {
        "snapshot": kernel.organization(asker.org_id).snapshot.digest,
        "state_version": kernel.answer_version.stored_version,
    }


# -- can, and why ----------------------------------------------------------------------------------------------------


async def _can(asker: Asker, arguments: shapes.CanArguments) -> ToolReply:
    requests = [build_request(asker, arguments, resource) for resource in list_resources_in(arguments)]
    answered = [await asker.decide(request) for request in requests]
    worst = find_worst(each[0].outcome for each in answered)
    decision, reasons, row = answered[worst]
    request = requests[worst]
    explanation: AccessExplanation | None = None
    grantors: tuple[str, ...] = ()
    if decision.outcome != "allow":
        explanation, grantors = await asker.ask(lambda kernel: explain_to(kernel, asker, request))
    answer = shapes.CanAnswer(
        outcome=decision.outcome, code=decision.code, codes=decision.codes, reasons=reasons,
        level_required=decision.level_required, level_effective=decision.level_effective,
        obligations=decision.obligations,
        paths=tuple(
            shapes.PathAnswer(path=path, outcome=each[0].outcome, code=each[0].code)
            for path, each in zip(arguments.paths, answered, strict=False)
        ),
        snapshot=decision.snapshot, state_version=decision.state_version, audit=row,
        **_list_ways(explanation, grantors),
    )  # fmt: skip
    text = write_decision(
        write_question(request), decision, reasons, explanation, grantors,
        explain_how_to_ask(asker, request, () if explanation is None else explanation.remedies),
        _USE_IT if decision.code == NEEDS_REPORT else "",
    )  # fmt: skip
    return answer, text


async def _answer_why(asker: Asker, arguments: shapes.CanArguments) -> ToolReply:
    requests = [build_request(asker, arguments, resource) for resource in list_resources_in(arguments)]

    def look(kernel: Kernel) -> tuple[AccessRequest, AccessExplanation, tuple[str, ...]]:
        decisions = [kernel.can(asker.org_id, request) for request in requests]
        request = requests[find_worst(each.outcome for each in decisions)]
        return request, *explain_to(kernel, asker, request)

    request, explanation, grantors = await asker.ask(look)
    decision = explanation.decision
    access_layers = tuple(
        shapes.AccessLayerStep(
            access_layer=line.access_layer,
            statement=line.statement,
            change=f"{line.value} {line.before} to {line.after}" if line.value else "",
            lines=_list_each(f"{why.file}:{why.line}" for why in line.why),
        )
        for line in explanation.trace
    )
    answer = shapes.WhyAnswer(
        outcome=decision.outcome, codes=decision.codes, reasons=explanation.reasons, access_layers=access_layers,
        snapshot=decision.snapshot, state_version=decision.state_version, **_list_ways(explanation, grantors),
    )  # fmt: skip
    text = write_decision(
        write_question(request),
        decision,
        explanation.reasons,
        explanation,
        grantors,
        explain_how_to_ask(asker, request, explanation.remedies),
    )
    steps = [
        f"{each.access_layer}: {clean_sentence(each.statement)}"
        + (f" ({', '.join(map(clean_sentence, each.lines[:3]))})" if each.lines else "")
        for each in access_layers
        if each.change or each.statement != NEUTRAL
    ]
    return answer, "\n".join([text, *(["layer by layer:"] if steps else []), *steps])


def _list_ways(explanation: AccessExplanation | None, grantors: tuple[str, ...]) -> dict[str, Any]:
    if explanation is None or explanation.decision.outcome == "allow":
        return {}
    return {
        "smallest_changes": tuple(remedy.text for remedy in explanation.remedies[:5]),
        "who_can_grant": grantors,
        "who_can": explanation.who_can.subjects,
    }


# -- who can, and dispatch ---------------------------------------------------------------------------------------


async def _answer_who_can(asker: Asker, arguments: shapes.WhoCanArguments) -> ToolReply:
    list_resources_in(shapes.CanArguments(resource=arguments.resource))

    def look(kernel: Kernel) -> shapes.WhoCanAnswer:
        rows = kernel.who_can(asker.org_id, arguments.action, arguments.resource)
        by_outcome = {
            outcome: _list_each(row.subject for row in rows if row.outcome == outcome)
            for outcome in WORST_FIRST
        }
        shown = {outcome: subjects[:_MAX_SUBJECTS] for outcome, subjects in by_outcome.items()}
        return shapes.WhoCanAnswer(
            allow=shown["allow"], ask=shown["ask"], conditional=_list_each((*shown["conditional"], *shown["deny"])),
            more=sum(len(subjects) - len(shown[outcome]) for outcome, subjects in by_outcome.items()),
            **_build_version(kernel, asker),
        )  # fmt: skip

    return await asker.ask(look), ""


async def _dispatch(asker: Asker, arguments: shapes.DispatchArguments) -> ToolReply:
    if sum(each is not None for each in (arguments.task, arguments.domain, arguments.intent)) != 1:
        raise UsageError("exactly one of `task`, `domain` and `intent` is required", "name one of them")
    try:
        previous = msgspec.convert(arguments.context, prepared(DispatchContext)).previous
    except msgspec.ValidationError as error:
        way = "pass the `work` of the last answer, or `{role_id, texts}` of the first one"
        raise UsageError(f"`context` is not valid: {error}", way) from None
    if previous is not None and arguments.task is None:
        raise UsageError("`context.previous` is only for `task`", "leave it out, or state the task in words")

    def look(kernel: Kernel) -> shapes.DispatchAnswer:
        dispatch = kernel.dispatch(
            asker.org_id,
            arguments.domain,
            intent=arguments.intent,
            text=arguments.task,
            needs=arguments.needs,
            previous=previous,
        )
        may, crew = None, dispatch.crew
        if dispatch.role_id is not None:
            request = msgspec.structs.replace(
                asker.base, action="handoff", resource=f"role:{dispatch.role_id}"
            )
            may = kernel.can(asker.org_id, request).outcome
        return shapes.DispatchAnswer(
            outcome=dispatch.outcome, role=dispatch.role_id or "", name=dispatch.role_name or "", you_may_hand_off=may,
            agents=_list_each(each.agent_id for each in crew.agents) if crew else (),
            acting_role=(crew.acting_role or "") if crew and crew.acting_role != dispatch.role_id else "",
            unavailable=tuple(_write_unavailable(crew)) if crew else (),
            plans=dispatch.plans, reasons=tuple(write_reasons(dispatch.reasons)), considered=_list_each(each.role_id for each in dispatch.considered),
            snapshot=dispatch.snapshot, work=dispatch.task,
        )  # fmt: skip

    return await asker.ask(look), ""


def _write_unavailable(crew: AgentChoice) -> Iterator[str]:
    """Why agents cannot take the work, a sentence each."""
    for each in crew.unavailable:
        yield f"{each.agent_id}: {'; '.join(reason.text for reason in each.reasons)}"
    yield from (reason.text for reason in crew.reasons)


# -- request access, and report ----------------------------------------------------------------------------------------


async def _answer_request_access(asker: Asker, arguments: shapes.RequestArguments) -> ToolReply:
    list_resources_in(shapes.CanArguments(resource=arguments.resource))
    wanted_use = msgspec.structs.replace(
        asker.base, action=arguments.action or "use", resource=arguments.resource
    )
    waives = await asker.ask(lambda kernel: _find_needed_waivers(kernel, asker, wanted_use))
    draft = RequestDraft(
        resources=(arguments.resource,), action=arguments.action, level=arguments.level, reason=arguments.reason, org_id=asker.org_id,
        waives=waives,
    )  # fmt: skip
    made = await asker.operate(lambda context: ask(context, draft, list_principals(asker.base)))
    needed = await asker.operate(lambda context: describe_missing(find_needs(context, made)))
    wanted = Grant(
        "", made.requester, made.resources, made.level, made.waives, asker.org_id, action=made.action
    )
    answer = shapes.RequestAnswer(
        request_id=made.request_id, status=made.status, resource=arguments.resource, level=made.level,
        expires_at=as_utc(made.expires_at) or "",
        who_can_grant=await asker.ask(lambda kernel: find_grantors(kernel, wanted)),
    )  # fmt: skip
    granted = f"{listing(answer.who_can_grant)}, or an operator" if answer.who_can_grant else "an operator"
    return answer, (
        f"{answer.status}: request `{answer.request_id}` for {quote(arguments.resource)}, until {answer.expires_at}\n"
        f"{f'approvals needed: {clean_sentence(needed)}{chr(10)}' if needed else ''}"
        f"who can grant it: {granted}, with `orgkernel request approve {answer.request_id}`\n"
        f"ask `{asker.tool_prefix}can` again later: nothing is allowed before the request is approved"
    )


def _find_needed_waivers(kernel: Kernel, asker: Asker, request: AccessRequest) -> tuple[Waiver, ...]:
    """The waivers that a grant needs for a use. Raises `Refused` if no grant would allow it."""
    explanation = kernel.why(asker.org_id, request)
    decision = explanation.decision
    grant = select_smallest_grant(explanation.remedies, request.subject)
    if grant is not None:
        return tuple(each for each in WAIVERS if each in grant.waives)
    if decision.outcome == "ask":
        raise Refused(
            f"a grant does not replace the approval of each call of {quote(request.resource)}",
            "make the call: it asks for an approval",
            NOTHING_TO_ASK,
        )
    # An undeclared name is refused below, with the names that are declared.
    if decision.outcome == "deny" and UNKNOWN.isdisjoint(decision.codes):
        raise Refused(
            f"no grant would allow {write_question(request)}",
            f"`{asker.tool_prefix}why` shows what decides, and `{asker.tool_prefix}who_can` who may do it instead",
            NOTHING_TO_ASK,
        )
    return ()


async def _report(asker: Asker, arguments: shapes.ReportArguments) -> ToolReply:
    role = await asker.ask(lambda kernel: _choose_reporting_role(kernel, asker, arguments.role))
    situation = Situation(
        role_id=role, now=time.time(), tier=arguments.tier, state=arguments.state, task=arguments.task,
        plan=arguments.plan, plan_steps=arguments.steps, plan_steps_done=arguments.steps_done,
        failures_consecutive=arguments.failures, files_modified=arguments.files_modified,
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


def _choose_reporting_role(kernel: Kernel, asker: Asker, named: str | None) -> str:
    """The role that reports: the only one of the subject, or the one it names among its own. Raises `UsageError`."""
    roles = list_roles(kernel.organization(asker.org_id).snapshot.index, asker.subject)
    if not roles:
        raise UsageError(
            f"{quote(asker.subject)} fills no role, and only roles report",
            "ask as an agent that fills a role",
        )
    if named is None and len(roles) > 1:
        raise UsageError(f"{quote(asker.subject)} fills several roles", f"name the `role`: {listing(roles)}")
    if named is not None and named not in roles:
        raise UsageError(
            f"{quote(asker.subject)} does not fill role {quote(named)}, and cannot report for it",
            f"it fills {listing(roles)}",
        )
    return named or roles[0]


TOOLS: tuple[McpTool, ...] = (
    McpTool("who_am_i", "Your role, your superiors, and whom you command.", shapes.NoArguments, shapes.Me, _answer_who_am_i),
    McpTool(
        "what_can", "What you may use now, and what needs an approval first.", shapes.WhatCanArguments,
        shapes.PermissionList, _answer_what_can,
    ),
    McpTool(
        "can", "Ask before you act: can you, who are asking, do this? A refusal says why and what would change it.",
        shapes.CanArguments, shapes.CanAnswer, _can,
    ),
    McpTool("why", "Why you may or may not do this, layer by layer.", shapes.CanArguments, shapes.WhyAnswer, _answer_why),
    McpTool("who_can", "Who else may do this.", shapes.WhoCanArguments, shapes.WhoCanAnswer, _answer_who_can),
    McpTool(
        "dispatch", "Which role takes this work, and whether you may hand it over. Changes nothing.", shapes.DispatchArguments,
        shapes.DispatchAnswer, _dispatch,
    ),
    McpTool(
        "request_access", "Ask for a permission that you lack. Another subject decides.", shapes.RequestArguments,
        shapes.RequestAnswer, _answer_request_access, "request",
    ),
    McpTool(
        "report", "Report your status to your superiors.", shapes.ReportArguments, shapes.ReportAnswer, _report,
        "report",
    ),
)  # fmt: skip
BY_NAME = {tool.name: tool for tool in TOOLS}


def list_tools_for(asker: Asker) -> tuple[McpTool, ...]:
    """The tools that a credential may use, always in the same order."""
    return tuple(tool for tool in TOOLS if asker.may(tool.needs))
