"""The interface of adapters. An adapter calls one tool, once for each permit.

An adapter never raises because of a tool. Its reply says how the call ended. Only a missing permit is an exception,
because the calling code is wrong; then nothing was called. Credentials are passed to the call and masked in its output.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal, final

from orgkernel.decisions.access.tool_input import decode_input
from orgkernel.operations.permits import Terms
from orgkernel.toolbox.literal_secrets import LiteralMaskers, build_maskers
from orgkernel.toolbox.masking import TooDeep
from orgkernel.toolbox.providers import HttpApi, McpServer

Redeem = Callable[..., Terms]
"""`Permits.redeem` of the kernel whose permits are valid here."""


@dataclass(frozen=True, slots=True)
class Call:
    """A permitted call."""

    action: str
    tool_input: bytes
    """The input as JSON bytes, so it cannot change between the check and the call."""
    org: str
    """The organization in which `subject` is permitted to call."""
    subject: str
    is_sole_action: bool = True
    """Whether the tool has no other action."""
    credentials: Mapping[str, str] = field(default_factory=dict)
    """The credentials that the subject may use here, by name."""
    threads: list[Future[Any]] = field(default_factory=list)
    """The set to which the adapter adds work that continues after a timeout."""

    @property
    def arguments(self) -> dict[str, Any]:
        """The input, parsed again at each access."""
        return decode_input(self.tool_input)


@dataclass(frozen=True, slots=True)
class Reply:
    """How a call ended."""

    outcome: Literal["done", "failed", "unavailable"]
    """`failed`: the tool reported an error. `unavailable`: the tool could not be called, and another one can be
    tried.
    """
    output: Any = None
    error: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    is_uncertain: bool = False
    """Whether the call may have had an effect although it failed."""


class Adapter(ABC):
    """Calls one tool."""

    def __init__(self, tool_id: str, redeem: Redeem, provider: HttpApi | McpServer | None = None) -> None:
        """Values of the `provider` in places of secrets are masked in replies."""
        self.tool_id = tool_id
        self._redeem = redeem
        self._maskers = None if provider is None else build_maskers(provider, {})

    @final
    async def run(self, permit: object, call: Call) -> Reply:
        """Use up the permit and call the tool. Raises `PermitRefused` if nothing was called."""
        self._redeem(
            permit, org=call.org, subject=call.subject, tool_id=self.tool_id, action=call.action,
            tool_input=call.tool_input,
        )  # fmt: skip
        reply = await self._call(call)
        return reply if self._maskers is None else _mask_literals(reply, self._maskers)

    @abstractmethod
    async def _call(self, call: Call) -> Reply:
        """Call the tool."""


def _mask_literals(reply: Reply, maskers: LiteralMaskers) -> Reply:
    """A reply without the values of its provider that could be secrets."""
    try:
        output = (maskers.results if reply.outcome == "done" else maskers.texts).mask(reply.output)
        text, metadata = maskers.texts.mask((reply.error, dict(reply.metadata)))
    except TooDeep as error:
        return Reply("failed", error=str(error), is_uncertain=True)
    return Reply(reply.outcome, output, text, metadata, reply.is_uncertain)


def choose_entry(table: Any, action: str, is_sole_action: bool) -> Any:
    """The entry for an action in a table, or the only entry for a tool with one action. None if there is none."""
    if isinstance(table, Mapping):
        return table.get(action)
    return table if is_sole_action else None


def reply_not_served(tool_id: str, action: str) -> Reply:
    """The reply if this action of a tool is not configured."""
    return Reply("unavailable", error=f"nothing serves the action `{action}` of `{tool_id}`")


def describe_error(error: BaseException) -> str:
    """The error text of a reply."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def build_headers(
    provider: HttpApi | McpServer, credentials: Mapping[str, str]
) -> tuple[dict[str, str], str]:
    """The headers of a call, and the name of a missing credential."""
    headers = dict(provider.headers)
    for header, (name, before) in provider.credential_headers.items():
        if name not in credentials:
            return {}, reply_missing(name)
        headers[header] = before + credentials[name]
    return headers, ""


def reply_missing(name: str) -> str:
    """The reply if a credential was not supplied or not found."""
    return f"the credential `{name}` is missing"
