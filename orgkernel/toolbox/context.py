"""The tools of one agent, and nothing else of the toolbox."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

import msgspec

from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import LOCK
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.records.levels import LEVELS
from orgkernel.toolbox.attempt import ToolRequest
from orgkernel.toolbox.cascade import escalate, invoke
from orgkernel.toolbox.parts import Parts
from orgkernel.toolbox.result import ToolResult

_CIRCUMSTANCES = frozenset(AccessContext.__struct_fields__) - {"input", "now", "utc_offset"}
_RUN = frozenset({"on_behalf_of", "via", "envelope"})
SETTLE = 8.0
"""Seconds a call that was given up has before its event loop ends; the MCP SDK takes up to six to end a process."""
LETTERS = {"none": "---", "observe": "O--", "read": "OR-", "write": "ORW", "full": "ORWD"}


class AvailableTool(msgspec.Struct, frozen=True):
    """A tool somebody has, with what a host needs to show it to an agent."""

    tool: str
    level: str
    letters: str
    actions: tuple[str, ...]
    """What it may do with it."""
    asks: tuple[str, ...]
    """What it may do once somebody approves."""
    conditions: tuple[str, ...]
    """What could change the answer: a time, a channel, a path, each as `KEY:VALUE`."""
    served: bool
    """Whether anything serves it here; a tool that is declared and not served is unavailable."""
    exclusive: bool
    name: str = ""
    description: str = ""
    names: Mapping[str, str] = {}
    input_schema: Mapping[str, Any] | None = None


class Difference(msgspec.Struct, frozen=True):
    """What changed between two lists of tools."""

    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Tools that are still there with another level or other actions."""


class ToolContext:
    """What one subject may use, in the circumstances of its run. Every answer is the decider's, now.

    A promotion, a grant or an edit of the documents shows at once; what only the caller knows, such as the session or
    the PACE tier, is told by `refresh`.
    """

    def __init__(self, parts: Parts, org: str, request: AccessRequest, timeout: float | None) -> None:
        self._parts = parts
        self._org = org
        self._request = request
        self._timeout = timeout
        self._shown = available_tools(parts, org, request)

    @property
    def subject(self) -> str:
        """Whose tools these are."""
        return self._request.subject

    def list(self) -> tuple[AvailableTool, ...]:
        """The tools it has, by id."""
        self._shown = available_tools(self._parts, self._org, self._request)
        return self._shown

    def has_tool(self, tool: str, action: str = "") -> bool:
        """Whether it may do this, or anything, with a tool now; what first has to be approved it may not."""
        found = self._find(tool)
        return found is not None and (action in found.actions if action else bool(found.actions))

    def level(self, tool: str) -> str:
        """Its level for a tool: `none`, `observe`, `read`, `write` or `full`."""
        found = self._find(tool)
        return "none" if found is None else found.level

    def _find(self, tool: str) -> AvailableTool | None:
        request = msgspec.structs.replace(self._request, resource=f"tool:{tool}")
        return next(iter(available_tools(self._parts, self._org, request)), None)

    def refresh(self, **circumstances: Any) -> Difference:
        """Tell what has changed about the run, and learn what differs from the tools that were listed last.

        `pace`, `session`, `channel` and the other fields of an `AccessContext`; `on_behalf_of`, `via` and `envelope`.
        """
        unknown = circumstances.keys() - _CIRCUMSTANCES - _RUN
        if unknown:
            raise UsageError(f"there is no circumstance {quote(min(unknown))}")
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
        """Use a tool: decided, permitted and called, and where it is unavailable, whatever the cascade finds.

        The level follows from the action; the action may be left out for a tool that has one. `instead` is what other
        tools are to be given, where they take another input. With `may_repeat`, another tool is tried also where the
        first may have changed something before it failed. Denials, failures and time-outs are results; only what the
        kernel cannot answer at all raises (`UnknownOrganization`, `NotServed`).
        """
        asked = self._asked(tool, input, action, timeout)
        return await invoke(
            self._parts, asked, instead=instead or {}, fallback=fallback, may_repeat=may_repeat
        )

    def invoke_blocking(
        self, tool: str, input: Mapping[str, Any] | None = None, **options: Any
    ) -> ToolResult:
        """`invoke` for code that is not async; raises `UsageError` where an event loop runs already."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(_settled(self.invoke(tool, input, **options)))
        raise UsageError("an event loop runs here", "write `await context.invoke(…)`")

    async def escalate(self, result: ToolResult) -> ToolResult:
        """Go on where a result was handed back and the caller's own reasoning did not help; raises `UsageError`."""
        if result.outcome != "handed_back":
            raise UsageError(f"the result is {result.outcome} and was not handed back")
        asked = self._asked(result.tool, result.input, result.action, None)
        steps = list(result.steps)
        steps[-1] = msgspec.structs.replace(steps[-1], outcome="no_answer", code="NO_ANSWER")
        return await escalate(self._parts, asked, steps)

    def _asked(
        self, tool: str, tool_input: Mapping[str, Any] | None, action: str, timeout: float | None
    ) -> ToolRequest:
        timeout = self._timeout if timeout is None else timeout
        return ToolRequest(self._org, self._request, tool, action, tool_input or {}, timeout)


def available_tools(parts: Parts, org: str, request: AccessRequest) -> tuple[AvailableTool, ...]:
    """The tools above level none, by id. An exclusive tool is there when it could be used with its lock."""
    rows: dict[str, list[AccessRow]] = {}
    for row in parts.kernel.what_can(org, request.subject, request=request):
        rows.setdefault(row.resource.split(":")[1], []).append(row)
    found = (_tool(parts, org, tool, rows[tool]) for tool in sorted(rows))
    return tuple(each for each in found if each is not None)


def _tool(parts: Parts, org: str, tool_id: str, rows: list[AccessRow]) -> AvailableTool | None:
    tool = parts.tool(org, tool_id)
    if tool is None:
        return None
    lock = f"lock:{tool_id}"
    allowed: list[str] = []
    asks: list[str] = []
    conditions: list[str] = []
    for row in rows:
        # Calling takes the lock, so that it is not held yet keeps nobody from a tool.
        waits = row.outcome == "deny" and row.conditions == (lock,)
        if row.outcome == "allow" or waits:
            allowed += row.actions
        elif row.outcome == "ask":
            asks += row.actions
        conditions += [each for each in row.conditions if each != lock]
    allowed = [action for action in dict.fromkeys(allowed) if action != LOCK]
    if not allowed and not asks:
        return None
    level = max((row.level for row in rows), key=LEVELS.index)
    return AvailableTool(
        tool_id, level, LETTERS[level], tuple(allowed), tuple(asks), tuple(dict.fromkeys(conditions)),
        tool_id in parts.adapters, tool.concurrency == "exclusive", tool.name, tool.description,
        tool.names, tool.input_schema,
    )  # fmt: skip


def compare(old: tuple[AvailableTool, ...], new: tuple[AvailableTool, ...]) -> Difference:
    """What a list gained and lost."""
    before, after = ({each.tool: each for each in listed} for listed in (old, new))
    return Difference(
        tuple(tool for tool in after if tool not in before),
        tuple(tool for tool in before if tool not in after),
        tuple(tool for tool in after if tool in before and after[tool] != before[tool]),
    )


async def _settled(work: Coroutine[Any, Any, ToolResult]) -> ToolResult:
    """What some work returns, once the calls it gave up have tidied up, where they do within a few seconds.

    The event loop ends with it, and would stop them at that a second time: a server process could be left running.
    """
    answer = await work
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        await asyncio.wait(left, timeout=SETTLE)
    return answer
