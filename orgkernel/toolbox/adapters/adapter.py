"""What every adapter is: something that calls one tool, once for each permit.

An adapter never raises for what a tool does; how it ended is its reply. Only a missing permit is an exception: then the
code that called is wrong, and nothing was called. Credentials go into a call, and are masked in what comes back.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal, final

from orgkernel.operations.permits import Terms
from orgkernel.toolbox.providers import HttpApi, McpServer

Redeem = Callable[..., Terms]
"""`Permits.redeem` of the kernel whose permits are good here."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it was permitted."""

    action: str
    tool_input: bytes
    """JSON; bytes, so that nothing can change them between the check and the call."""
    is_sole_action: bool = True
    """Whether the tool has no other action."""
    credentials: Mapping[str, str] = field(default_factory=dict)
    """The credentials the subject may use here, by name."""
    threads: list[Future[Any]] = field(default_factory=list)
    """Where the adapter notes what goes on running when nobody waits for it any more."""

    @property
    def arguments(self) -> dict[str, Any]:
        """The input, read anew each time."""
        arguments: dict[str, Any] = json.loads(self.tool_input)
        return arguments


@dataclass(frozen=True, slots=True)
class Reply:
    """How a call ended."""

    outcome: Literal["done", "failed", "unavailable"]
    """`failed`: the tool said no. `unavailable`: it could not be asked, another one may be."""
    output: Any = None
    error: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    is_uncertain: bool = False
    """Whether it may have taken effect although it did not end well."""


class Adapter(ABC):
    """Calls one tool."""

    def __init__(self, tool_id: str, redeem: Redeem) -> None:
        self.tool_id = tool_id
        self._redeem = redeem

    @final
    async def run(self, permit: object, call: Call) -> Reply:
        """Use up the permit and call the tool; raises `PermitRefused`, and then nothing was called."""
        self._redeem(permit, tool_id=self.tool_id, action=call.action, tool_input=call.tool_input)
        return await self._call(call)

    @abstractmethod
    async def _call(self, call: Call) -> Reply:
        """Call the tool."""


def chosen(table: Any, action: str, is_sole_action: bool) -> Any:
    """The entry for an action of a table by action, or the one entry for a tool with one action; None where neither."""
    if isinstance(table, Mapping):
        return table.get(action)
    return table if is_sole_action else None


def not_served(tool_id: str, action: str) -> Reply:
    """A tool that is served, but not with this action."""
    return Reply("unavailable", error=f"nothing serves the action `{action}` of `{tool_id}`")


def describe_error(error: BaseException) -> str:
    """What went wrong, for the error of a reply."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def headers_for(provider: HttpApi | McpServer, credentials: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The headers of a call; and what is missing, where a credential is."""
    headers = dict(provider.headers)
    for header, (name, before) in provider.credential_headers.items():
        if name not in credentials:
            return {}, missing(name)
        headers[header] = before + credentials[name]
    return headers, ""


def missing(name: str) -> str:
    """A credential that is needed and was not handed out, or not found."""
    return f"the credential `{name}` is missing"
