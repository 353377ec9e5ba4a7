"""The tools of one agent."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

import msgspec

from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.layers.policies import LEFT_OPEN
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import LOCK
from orgkernel.decisions.work.capability.handling import HandlingDecision, HandlingRequest
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import LEVELS
from orgkernel.errors import UsageError
from orgkernel.toolbox.attempt import ToolRequest
from orgkernel.toolbox.cascade import escalate, invoke
from orgkernel.toolbox.parts import Parts
from orgkernel.toolbox.result import ToolResult

_CIRCUMSTANCES = frozenset(AccessContext.__struct_fields__) - {"input", "now", "utc_offset"}
_RUN = frozenset({"on_behalf_of", "via", "envelope"})
SETTLE = 8.0
"""Seconds that abandoned calls have before the event loop ends. The MCP SDK needs up to six to end a process."""
LETTERS = {"none": "---", "observe": "O--", "read": "OR-", "write": "ORW", "full": "ORWD"}


class AvailableTool(msgspec.Struct, frozen=True):
    """A tool of a subject, with the data a host needs to show it to an agent."""

    tool: str
    level: str
    letters: str
    actions: tuple[str, ...]
    """Allowed actions."""
    asks: tuple[str, ...]
    """Actions that need an approval."""
    conditions: tuple[str, ...]
    """Circumstances that could change the answer, such as a time, channel or path, each as `KEY:VALUE`."""
    served: bool
    """Whether the toolbox has a provider for the tool. Without one, the tool is unavailable."""
    exclusive: bool
    name: str = ""
    description: str = ""
    names: Mapping[str, str] = {}
    input_schema: Mapping[str, Any] | None = None


class Difference(msgspec.Struct, frozen=True):
    """The difference between two lists of tools."""

    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Tools in both lists with another level or other actions."""


class ToolContext:
    """The tools of one subject in the circumstances of its run.

    Every answer is a new decision, so promotions, grants and edits of documents apply at once. Circumstances that
    only the caller knows, such as the session or the PACE tier, are set with `refresh`.
    """

    def __init__(self, parts: Parts, org: str, request: AccessRequest, timeout: float | None) -> None:
        self._parts = parts
        self._org = org
        self._request = request
        self._timeout = timeout
        self._shown = list_available_tools(parts, org, request)

    @property
    def find_subject(self) -> str:
        """The subject that has these tools."""
        return self._request.subject

    def list(self) -> tuple[AvailableTool, ...]:
        """The tools of the subject, by id."""
        self._shown = list_available_tools(self._parts, self._org, self._request)
        return self._shown

    def handle(self, intent: str, *, text: str = "", failed: Sequence[str] = ()) -> HandlingDecision:
        """The way in which the subject handles an intent in the circumstances of its run.

        After a way failed, ask again with it among `failed`, such as `executable_skill:publish_post`.
        """
        run = self._request
        handling_request = HandlingRequest(
            run.subject, intent, run.context, run.on_behalf_of, run.via, run.envelope, text, tuple(failed)
        )
        return self._parts.kernel.handle(self._org, handling_request)

    def has_tool(self, tool: str, action: str = "") -> bool:
        """Whether the subject may use a tool now, with this action or with any.

        Actions that need an approval are not included.
        """
        available_tool = self._find(tool)
        return available_tool is not None and (
            action in available_tool.actions if action else bool(available_tool.actions)
        )

    def level(self, tool: str) -> str:
        """The level of the subject for a tool: `none`, `observe`, `read`, `write` or `full`."""
        available_tool = self._find(tool)
        return "none" if available_tool is None else available_tool.level

    def _find(self, tool: str) -> AvailableTool | None:
        request = msgspec.structs.replace(self._request, resource=f"tool:{tool}")
        return next(iter(list_available_tools(self._parts, self._org, request)), None)

    def refresh(self, **circumstances: Any) -> Difference:
        """Set circumstances of the run. Returns the difference from the last list of tools.

        Circumstances are `pace`, `session`, `channel` and the other fields of `AccessContext`, and `on_behalf_of`,
        `via` and `envelope`.
        """
        unknown = circumstances.keys() - _CIRCUMSTANCES - _RUN
        if unknown:
            raise UsageError(f"unknown circumstance {quote(min(unknown))}")
        of_run = {name: circumstances.pop(name) for name in _RUN & circumstances.keys()}
        context = msgspec.structs.replace(self._request.context, **circumstances)
        self._request = msgspec.structs.replace(self._request, context=context, **of_run)
        before = self._shown
        return compare(before, self.list())

    async def invoke(
        self,
        tool: str,
        input: Mapping[str, Any] | None = None,
        *,
        action: str = "",
        timeout: float | None = None,
        instead: Mapping[str, Mapping[str, Any]] | None = None,
        fallback: bool = True,
        may_repeat: bool = False,
    ) -> ToolResult:
        """Use a tool: decide, permit and call, and follow the cascade if the tool is unavailable.

        The action determines the required level. It can be left out for a tool with one action. `instead` maps other
        tools to their inputs, if they need another input. With `may_repeat`, another tool is tried even if the first
        may have changed something before it failed. Denials, failures and timeouts are results. Only
        `UnknownOrganization` and `NotServed` are raised.
        """
        tool_request = self._build_tool_request(tool, input, action, timeout)
        return await invoke(
            self._parts, tool_request, instead=instead or {}, fallback=fallback, may_repeat=may_repeat
        )

    def invoke_blocking(
        self, tool: str, input: Mapping[str, Any] | None = None, **options: Any
    ) -> ToolResult:
        """`invoke` for code that is not async. Raises `UsageError` if an event loop is running."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(_settle(self.invoke(tool, input, **options)))
        raise UsageError("an event loop is running in this thread", "write `await context.invoke(…)`")

    async def escalate(self, result: ToolResult) -> ToolResult:
        """Continue a result that was handed back, if the caller's own reasoning did not help. Raises `UsageError`."""
        if result.outcome != "handed_back":
            raise UsageError(f"the result is {result.outcome} and was not handed back")
        tool_request = self._build_tool_request(result.tool, result.input, result.action, None)
        steps = list(result.steps)
        steps[-1] = msgspec.structs.replace(steps[-1], outcome="no_answer", code="NO_ANSWER")
        return await escalate(self._parts, tool_request, steps)

    def _build_tool_request(
        self, tool: str, tool_input: Mapping[str, Any] | None, action: str, timeout: float | None
    ) -> ToolRequest:
        timeout = self._timeout if timeout is None else timeout
        return ToolRequest(self._org, self._request, tool, action, tool_input or {}, timeout)


def list_available_tools(parts: Parts, org: str, request: AccessRequest) -> tuple[AvailableTool, ...]:
    """The tools above level none, by id. An exclusive tool is included if it could be used with its lock."""
    org_access = parts.kernel.access(org)
    rows: dict[str, list[tuple[AccessRow, tuple[str, ...]]]] = {}
    for row in org_access.what_can(request.subject, request, ("tool",)):
        tool_id = row.resource.split(":")[1]
        provider = parts.providers.get(tool_id)
        names_path = provider is not None and provider.path_from is not None
        open_actions = org_access.open_to_calls(row, request, names_path=names_path)
        rows.setdefault(tool_id, []).append((row, open_actions))
    tools = (_build_available_tool(parts, org, tool, rows[tool]) for tool in sorted(rows))
    return tuple(each for each in tools if each is not None)


def _build_available_tool(
    parts: Parts, org: str, tool_id: str, rows: list[tuple[AccessRow, tuple[str, ...]]]
) -> AvailableTool | None:
    tool = parts.tool(org, tool_id)
    if tool is None:
        return None
    lock = f"lock:{tool_id}"
    allowed: list[str] = []
    asks: list[str] = []
    conditions: list[str] = []
    levels = [row.level for row, _ in rows]
    for row, open_ones in rows:
        if row.outcome == "ask":
            asks += row.actions
        elif row.outcome in ("allow", "conditional", "deny"):
            allowed += open_ones
            if row.outcome == "deny" and row.code in LEFT_OPEN:
                levels += [tool.required_levels[action] for action in open_ones if action != LOCK]
        conditions += [each for each in row.conditions if each != lock]
    allowed = [action for action in dict.fromkeys(allowed) if action != LOCK]
    if not allowed and not asks:
        return None
    level = max(levels, key=LEVELS.index)
    return AvailableTool(
        tool_id, level, LETTERS[level], tuple(allowed), tuple(asks), tuple(dict.fromkeys(conditions)),
        tool_id in parts.adapters, tool.concurrency == "exclusive", tool.name, tool.description,
        tool.names, tool.input_schema,
    )  # fmt: skip


def compare(old: tuple[AvailableTool, ...], new: tuple[AvailableTool, ...]) -> Difference:
    """The difference between two lists."""
    before, after = ({each.tool: each for each in listed} for listed in (old, new))
    return Difference(
        tuple(tool for tool in after if tool not in before),
        tuple(tool for tool in before if tool not in after),
        tuple(tool for tool in after if tool in before and after[tool] != before[tool]),
    )


async def _settle(work: Coroutine[Any, Any, ToolResult]) -> ToolResult:
    """The result of some work, after its abandoned calls have cleaned up or a few seconds have passed.

    The event loop ends afterwards and would cancel their cleanup, which could leave a server process running.
    """
    answer = await work
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        await asyncio.wait(left, timeout=SETTLE)
    return answer
