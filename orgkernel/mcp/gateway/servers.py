"""A server behind the gateway, of which only reviewed tools are shown and called."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from orgkernel.diagnostics.wording import clean, listing, quote
from orgkernel.errors import UsageError
from orgkernel.mcp.gateway.names import map_tool_names
from orgkernel.mcp.gateway.pins import Pins, Reviewed, ToolDefinition, compute_digest, list_changed_fields
from orgkernel.mcp.gateway.server_lists import ListLimits, MissingServer, ServerList, ServerLists
from orgkernel.toolbox.upstream_tools import (
    AnsweringCaller,
    LogReceiver,
    OnProgress,
    Upstream,
    UpstreamError,
    UpstreamReply,
)

_MAX_WORD_LENGTH = 80
_MAX_LOOKS = 3
_MAX_MESSAGES = 200
"""Maximum number of messages about one server, so a server that keeps changing cannot fill the log or the memory."""
Announce = Callable[[str], None]
"""Sends a message to the operator."""


class WithheldTool(NamedTuple):
    """A tool that is neither shown nor called before it is accepted."""

    name: str
    state: Reviewed
    fields: tuple[str, ...]

    def sentence(self, server: str, accept_options: Sequence[str] | None = ()) -> str:
        """The problem and its remedy. `accept_options` name the servers and the lock file; None leaves the command out."""
        tool = f"tool {quote(self.name)} of server {quote(server)}"
        todo = explain_accepting((server, self.name), accept_options)
        if self.state == "new":
            return f"{tool} is withheld: it has not been reviewed; {todo}"
        changed = f" (changed: {listing(self.fields)})" if self.fields else ""
        return f"{tool} is withheld: its definition has changed since it was reviewed{changed}; {todo}"


class _Live(NamedTuple):
    listed: tuple[dict[str, Any], ...]
    """The list from the server. The object changes only when the list changes."""
    accepted: Mapping[str, ToolDefinition]
    withheld: Mapping[str, WithheldTool]
    generation: int
    """Digest of the accepted tools that the list was compared with."""


class ReviewedServer:
    """A server with the definitions of its accepted tools."""

    def __init__(
        self,
        upstream: Upstream,
        pins: Pins,
        say: Announce,
        *,
        on_list_change: Callable[[], None] = lambda: None,
        limits: ListLimits | None = None,
        accept_options: Sequence[str] = (),
        shows_command: bool = True,
    ) -> None:
        """`on_list_change` is called when a list that was passed on could be another one now.

        `accept_options` are the options of the command that accepts its tools, which callers see if `shows_command`.
        """
        self.name = upstream.name
        self.upstream = upstream
        self.lists = ServerLists(
            upstream.name,
            {
                "tools": self.definitions,
                "prompts": upstream.prompts,
                "resources": upstream.resources,
                "resource_templates": upstream.resource_templates,
            },
            lambda: upstream.status.state == "running",
            self,
            limits or ListLimits(),
        )
        upstream.follow_changes(self._note_change)
        self._on_list_change = on_list_change
        self._accept_options = tuple(accept_options)
        self._shows_command = shows_command
        self._last_accepted: Mapping[str, ToolDefinition] | None = None
        """The accepted tools when the server was last looked at. None if clients know that they could be others."""
        self._pins = pins
        self._say = say
        self._live: _Live | None = None
        self._noted: tuple[dict[str, Any], ...] | None = None
        """The list of which the withheld tools were noted."""
        self._told: set[str] = set()
        self._names: dict[str, str] = {}

    def is_reviewed(self) -> bool:
        """Whether its prompts and resources may be passed on; they have no separate review. Raises `UsageError`."""
        self._pins.refresh()
        return self._pins.knows(self.name) or not self._pins.require_review

    async def definitions(self) -> Mapping[str, ToolDefinition]:
        """The accepted tools. A server whose tools are known is not started for it. Raises `UpstreamError`."""
        if self._needs_no_look():
            return self._pins.definitions(self.name)
        return (await self._look()).accepted

    async def list_definitions(self) -> ServerList:
        """The accepted tools within the deadline of a list. Of a server that does not answer, those that it had last.

        Raises `UsageError`.
        """
        if self._needs_no_look():
            return ServerList(self._pins.definitions(self.name))
        listing = await self.lists.read("tools")
        return listing if listing.missing is None else ServerList(self._list_last_accepted(), listing.missing)

    def _list_last_accepted(self) -> Mapping[str, ToolDefinition]:
        """The accepted tools that were not withheld when the server was last asked."""
        definitions, withheld = self._pins.definitions(self.name), self._pins.withheld(self.name)
        if not withheld:
            return definitions  # the same object, by which offers are cached
        return {name: each for name, each in definitions.items() if name not in withheld}

    def note_missing(self, missing: MissingServer) -> None:
        """Tell the operator that lists are answered without the server."""
        again = "" if missing.retry_seconds is None else "; it is asked again later"
        self._say(f"server {quote(self.name)} does not answer, so lists omit it: {missing.reason}{again}")

    def note_return(self, server: str) -> None:
        """Tell the operator and the clients that lists have the server again."""
        self._say(f"server {quote(server)} answers again, so lists include it again")
        self._on_list_change()

    def _needs_no_look(self) -> bool:
        """Whether the tools are known without asking the server. Raises `UsageError`."""
        generation = self._pins.refresh()
        if self._live is not None and self._live.generation != generation:
            self._live = None
        is_running = self.upstream.status.state == "running"
        is_known = self._pins.knows(self.name) and not self._pins.withheld(self.name)
        return self._live is None and is_known and not is_running

    def refresh(self) -> None:
        """Reload the accepted definitions if they changed. Raises `UsageError`.

        This is done before a call is decided: reading a file lets other threads run, and a writing thread would
        overtake the call.
        """
        self._pins.refresh()

    async def get_tool_called(self, exposed: str) -> str | None:
        """The tool with this name in front of a host. Raises `UpstreamError`."""
        name = self._names.get(exposed)
        if name is None:
            await self.definitions()
            known = {*self._pins.definitions(self.name)}
            if self._live is not None:
                known |= {*self._live.accepted, *self._live.withheld}
            self._names = map_tool_names(self.name, known)
            name = self._names.get(exposed)
        return name

    def get_schema_called(self, exposed: str) -> Any:
        """The argument schema of an accepted tool with this name in front of a host, without asking the server."""
        accepted = self._pins.definitions(self.name)
        name = self._names.get(exposed) or map_tool_names(self.name, accepted).get(exposed)
        return None if name is None else accepted.get(name, {}).get("inputSchema")

    async def call(
        self, name: str, arguments: dict[str, Any], *, seconds: float | None, on_progress: OnProgress | None,
        caller: AnsweringCaller | None = None, log_receiver: LogReceiver | None = None,
    ) -> UpstreamReply:  # fmt: skip
        """Call a tool if its definition is accepted and the server has not changed since it was checked.

        `refresh` reads the accepted definitions.
        """
        for _ in range(_MAX_LOOKS):
            try:
                live = await self._look()
            except UpstreamError as error:
                return UpstreamReply(None, error.error, "unavailable")
            if name not in live.accepted:
                return UpstreamReply(None, self._explain_missing(live, name), "unavailable")
            reply = await self.upstream.call(
                name,
                arguments,
                seconds=seconds,
                on_progress=on_progress,
                listed=live.listed,
                caller=caller,
                log_receiver=log_receiver,
            )
            if reply.kind != "changed":
                return reply
        return UpstreamReply(None, "its tools keep changing", "unavailable")

    def _explain_missing(self, live: _Live, name: str) -> str:
        withheld = live.withheld.get(name)
        options = self._accept_options if self._shows_command else None
        return (
            f"the server has no tool {quote(name)} now"
            if withheld is None
            else withheld.sentence(self.name, options)
        )

    async def _look(self) -> _Live:
        """Compare the current list of the server with the accepted definitions last read. Raises `UpstreamError`."""
        listed = await self.upstream.tools()
        live = self._live
        if live is None or live.listed is not listed or live.generation != self._pins.generation:
            live = self._live = self._compare(listed)
            if self._last_accepted not in (None, live.accepted):
                self._on_list_change()  # it was started again, or an operator has accepted something
            self._last_accepted = live.accepted
        return live

    def _note_change(self, _: str) -> None:
        self._last_accepted = None
        self._on_list_change()

    def _compare(self, listed: tuple[dict[str, Any], ...]) -> _Live:
        by_name: dict[str, ToolDefinition] = {}
        twice: set[str] = set()
        for each in listed:
            name = each.get("name")
            if isinstance(name, str):
                if name in by_name:
                    twice.add(name)
                by_name[name] = each
        for name in twice:  # a call could reach either of them
            del by_name[name]
            self._tell(f"server {quote(self.name)} lists tool {quote(name)} twice, so it is not shown")
        if not self._pins.knows(self.name) and not self._pins.require_review:
            try:
                self._pins.accept(self.name, by_name)
            except UsageError as error:  # the other servers are none the worse for it
                raise UpstreamError(f"its tools cannot be accepted: {error.message}") from None
            self._tell(
                f"accepted {len(by_name)} tools of server {quote(self.name)} at first sight; they are in {quote(self._pins.path)}"
            )
        accepted: dict[str, ToolDefinition] = {}
        withheld: dict[str, WithheldTool] = {}
        known = self._pins.definitions(self.name)
        for name, definition in by_name.items():
            state = self._pins.review(self.name, name, compute_digest(definition))
            if state == "accepted":
                accepted[name] = definition
            else:
                fields = list_changed_fields(known[name], definition) if name in known else ()
                withheld[name] = WithheldTool(name, state, fields)
                self._tell(withheld[name].sentence(self.name, self._accept_options))
        if (
            self._noted is not listed
        ):  # once for each list, because gateways of one file can see different lists
            self._noted = listed
            with suppress(UsageError):  # the file cannot be written; then the next gateway knows less
                self._pins.note_withheld(self.name, frozenset(known) - accepted.keys())
        return _Live(listed, accepted, withheld, self._pins.generation)

    def _tell(self, text: str) -> None:
        if text in self._told or len(self._told) > _MAX_MESSAGES:
            return
        self._told.add(text)
        if len(self._told) > _MAX_MESSAGES:
            text = f"server {quote(self.name)} has changed so often that further changes are not logged"
        self._say(clean(text))


def explain_accepting(names: Sequence[str], options: Sequence[str] | None) -> str:
    """How a server, or a tool of it, is accepted. Without `options`, the command is left out."""
    if options is None:
        return "an operator finds the command that accepts it in the log of the gateway"
    return f"run {_render_command(names, options)}"


def _render_command(names: Sequence[str], options: Sequence[str]) -> str:
    """A command to paste into a shell, for a server and perhaps one of its tools. The server chooses the name of the tool, so it is quoted as one word."""
    server, *tools = names
    words = [
        server, *(each for each in tools if len(each) <= _MAX_WORD_LENGTH and clean(each) == each and "`" not in each)
    ]  # fmt: skip
    separator = ["--"] if any(each.startswith("-") for each in words) else []
    return f"`{shlex.join(['orgkernel', 'gateway', 'accept', *options, *separator, *words])}`"
