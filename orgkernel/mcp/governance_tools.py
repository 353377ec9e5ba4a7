"""The MCP tools for agents of an organization with a governance document: check a hand-off, list the subtasks that may start, and
store a result or a blocker.
"""

from __future__ import annotations

from typing import Any

import msgspec

from orgkernel.decisions.handoff.briefs import HandoffBriefs
from orgkernel.decisions.handoff.permission import HandoffPermission, HandoffQuestion
from orgkernel.decisions.work.contracts.reading import ReadContract, check_read_contract, read_contract
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.files import SourceText, decode
from orgkernel.mcp import shapes
from orgkernel.mcp.asker import Asker
from orgkernel.mcp.tools import TOOLS, McpTool, ToolReply
from orgkernel.mcp.words import clean_sentence
from orgkernel.operations.contracts import record_contract

_REPORTS = ("result", "correction", "mission_close")


async def list_tools_of(asker: Asker) -> tuple[McpTool, ...]:
    """The tools that a credential may use, always in the same order. Without a governance document, the tools
    here are left out.
    """
    is_governed = await asker.ask(lambda kernel: _is_governed(kernel, asker.org_id))
    tools = (*TOOLS, *GOVERNANCE_TOOLS) if is_governed else TOOLS
    return tuple(tool for tool in tools if asker.may(tool.needs))


def _is_governed(kernel: Kernel, org_id: str) -> bool:
    return bool(kernel.organization(org_id).snapshot.records.governance)


async def _answer_may_hand_off(asker: Asker, arguments: shapes.HandOffArguments) -> ToolReply:
    briefs = HandoffBriefs(
        _read("brief", "brief", arguments.brief), _read("parent_brief", "brief", arguments.parent_brief)
    )
    question = HandoffQuestion(
        sender=asker.subject,
        receiver=arguments.to,
        depth=arguments.depth,
        on_behalf_of=asker.base.on_behalf_of,
    )
    permission = await asker.ask(lambda kernel: kernel.handoff_permission(asker.org_id, question, briefs))
    answer = shapes.HandOffAnswer(
        outcome=permission.outcome, code=permission.code, receiver=permission.receiver,
        problems=tuple(
            shapes.HandOffProblem(step=each.step, code=each.code, text=each.text, remedies=each.remedies)
            for each in permission.findings
        ),
        obligations=permission.obligations,
        session=permission.routing.session_key if permission.routing else "",
        queue_mode=permission.routing.queue_mode if permission.routing else "",
        snapshot=permission.snapshot, state_version=permission.state_version,
    )  # fmt: skip
    return answer, "\n".join(_write_permission(permission))


def _write_permission(permission: HandoffPermission) -> list[str]:
    lines = [f"{permission.outcome}: {quote(permission.sender)} hands work to {quote(permission.receiver)}"]
    for each in permission.findings:
        places = ", ".join(f"{why.file}:{why.line}" for why in each.why[:3] if why.file)
        lines.append(
            f"because {clean_sentence(each.text)}{f' ({clean_sentence(places)})' if places else ''} [{each.code}]"
        )
        lines += (clean_sentence(f"  {remedy}") for remedy in each.remedies)
    if permission.obligations:
        lines.append(f"still to show: {listing(permission.obligations, len(permission.obligations))}")
    return lines


async def _answer_what_may_start(asker: Asker, arguments: shapes.MayStartArguments) -> ToolReply:
    source = _get_text("plan", "subtask_plan", arguments.plan)

    def plan_subtasks(kernel: Kernel) -> shapes.MayStartAnswer:
        planned = kernel.plan_batches(asker.org_id, source, arguments.done, arguments.running)
        if planned.unknown is not None:
            problem, name, help = planned.unknown
            raise UsageError(f"subtask {quote(name)} {problem}", help or "use ids of the plan")
        plan = planned.plan
        return shapes.MayStartAnswer(
            outcome=planned.outcome,
            start=() if plan is None else plan.start,
            takers=tuple(
                shapes.SubtaskTaker(
                    subtask=each.subtask, role=each.role_id, agent=each.agent_id, acting_role=each.acting_role
                )
                for each in planned.assignments
            ),
            waiting=tuple(
                f"{each.id}: {wait.text}"
                for each in (() if plan is None else plan.waiting)
                for wait in each.waits
            ),
            batches=() if plan is None else tuple(each.subtasks for each in plan.batches),
            problems=(
                *(f"{each.place}: {each.message}" for each in planned.diagnostics),
                *(each.text for each in (() if plan is None else plan.problems)),
            ),
        )

    return await asker.ask(plan_subtasks), ""


async def _file_result(asker: Asker, arguments: shapes.ContractArguments) -> ToolReply:
    return await _file(asker, arguments, _REPORTS)


async def _file_blocker(asker: Asker, arguments: shapes.ContractArguments) -> ToolReply:
    return await _file(asker, arguments, ("blocker",))


async def _file(asker: Asker, arguments: shapes.ContractArguments, kinds: tuple[str, ...]) -> ToolReply:
    read = _read("contract", kinds[0], arguments.contract)
    assert read is not None
    if read.kind is not None and read.kind not in kinds:
        raise UsageError(f"the contract is of kind {quote(read.kind)}", f"this tool stores {listing(kinds)}")
    checked = check_read_contract(read)
    stored = await asker.operate(lambda context: record_contract(context, checked, org=asker.org_id))
    return shapes.ContractReply(
        id=stored.record_id, kind=stored.kind, number=stored.sequence, session=stored.session or ""
    ), ""


def _read(name: str, kind: str, value: dict[str, Any] | str | None) -> ReadContract | None:
    return None if value is None else read_contract(_get_text(name, kind, value))


def _get_text(name: str, kind: str, value: dict[str, Any] | str) -> SourceText:
    """A document in the arguments: an object, or a string with YAML or JSON. An object need not state its kind."""
    if isinstance(value, str):
        return decode(name, name, value.encode("utf-8", "surrogatepass"))
    return decode(name, f"{name}.json", msgspec.json.encode({"_schema": f"orgkernel:{kind}", **value}))


GOVERNANCE_TOOLS: tuple[McpTool, ...] = (
    McpTool(
        "may_hand_off", "May you hand this work down to a role or a layer? Changes nothing.", shapes.HandOffArguments,
        shapes.HandOffAnswer, _answer_may_hand_off,
    ),
    McpTool(
        "what_may_start", "Which subtasks of a plan may start now, and in which batches. Changes nothing.",
        shapes.MayStartArguments, shapes.MayStartAnswer, _answer_what_may_start,
    ),
    McpTool(
        "file_result", "Report the end of your session: a result, a correction or a mission close. It is never changed.",
        shapes.ContractArguments, shapes.ContractReply, _file_result, "report",
    ),
    McpTool(
        "file_blocker", "Report what blocks you, and the fallback with which you go on. A preference of yours does not block you, so do not report it.",
        shapes.ContractArguments, shapes.ContractReply, _file_blocker, "report",
    ),
)  # fmt: skip
GOVERNANCE_BY_NAME = {tool.name: tool for tool in GOVERNANCE_TOOLS}
