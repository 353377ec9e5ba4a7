"""The gateway: the servers, and what each caller sees of them and may do with them."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from orgkernel.diagnostics.wording import escape_lines, quote
from orgkernel.documents.records import Tool
from orgkernel.errors import UsageError
from orgkernel.graph.questions import OrgView
from orgkernel.mcp.gateway.bindings import ToolBinding, bind, find_bindings, map_server_tools
from orgkernel.mcp.gateway.caller_sessions import CallerSessions
from orgkernel.mcp.gateway.list_changes import ListChanges
from orgkernel.mcp.gateway.names import build_prefix, map_tool_names, require_distinct_names
from orgkernel.mcp.gateway.pins import Pins, ToolDefinition
from orgkernel.mcp.gateway.server_lists import ListLimits, MissingServer
from orgkernel.mcp.gateway.servers import Announce, ReviewedServer, explain_accepting
from orgkernel.mcp.words import map_texts
from orgkernel.toolbox.server_source import ServerSource
from orgkernel.toolbox.upstream_tools import Upstream


class CallTarget(NamedTuple):
    """The target of a call: a tool of a server, and the declared tools behind it."""

    server: ReviewedServer
    name: str
    bindings: tuple[ToolBinding, ...]


class OfferedTool(NamedTuple):
    """A tool of a server that is declared, with its definition as a host sees it."""

    exposed: str
    server: str
    shown: Mapping[str, Any]
    binding: ToolBinding


class Offers(NamedTuple):
    """Tools of servers, and the servers that did not answer."""

    tools: Sequence[OfferedTool]
    missing: Sequence[MissingServer]


class McpGateway:
    """The servers behind one gateway. A server is not started before it is needed."""

    def __init__(
        self, upstreams: Sequence[Upstream], pins: Pins, say: Announce, limits: ListLimits | None = None,
        *, has_self_service: bool = True, unusable: Mapping[str, str] | None = None, accept_options: Sequence[str] = (),
        is_remote: bool = False, source: ServerSource | None = None,
    ) -> None:  # fmt: skip
        """`has_self_service` is whether callers also have the tools of orgkernel itself. `unusable` are servers that cannot be used, and why.

        `accept_options` are the options with which an operator accepts the tools of these servers. With `is_remote`, callers
        are not told them, because they name files of this machine. With a `source`, its servers are read again when it changes.

        Raises `UsageError` for servers whose names cannot be distinguished.
        """
        require_distinct_names(each.name for each in upstreams)
        self.pins = pins
        self.changes = ListChanges()
        self.has_self_service = has_self_service
        self._review = partial(
            ReviewedServer, pins=pins, say=say, on_list_change=self.changes.announce, limits=limits,
            accept_options=accept_options, shows_command=not is_remote,
        )  # fmt: skip
        self.servers = {each.name: self._review(each) for each in upstreams}
        self.sessions = CallerSessions(self._review)
        self._unusable = _map_unusable(unusable or {})
        self._source = source
        self._accept_options = tuple(accept_options)
        self._is_remote = is_remote
        self._used = {each.name: each.declaration for each in upstreams}
        """The declaration with which each server was last used. The operator who starts the gateway has chosen the first ones."""
        self._waiting: tuple[Upstream, ...] = ()
        """Servers whose changed declaration waits for a review."""
        self._compared = pins.generation
        """The version of the accepted tools that they were compared with."""
        self._ending: set[asyncio.Task[None]] = set()
        self._say = say
        self._fronts = {build_prefix(name): name for name in self.servers}
        self._offers: dict[
            tuple[str, str], tuple[OrgView, Mapping[str, ToolDefinition], tuple[OfferedTool, ...]]
        ] = {}
        """Bindings, keyed by organization and server, for the last version of each."""

    @property
    def may_ask(self) -> bool:
        """Whether any server may ask callers for something during a call."""
        return any(each.upstream.may_ask for each in self.servers.values())

    @property
    def servers_elsewhere(self) -> frozenset[str]:
        """The servers whose files are not known to be on this machine."""
        return frozenset(name for name, each in self.servers.items() if each.upstream.folder is None)

    def refresh(self) -> None:
        """Read the files of the servers again if they have changed. Files that cannot be read leave the last servers.

        A server that is declared in another way, or no longer, is ended; calls of it that run fail. A changed declaration of a reviewed
        server is not used before an operator accepts it, because a caller that can write the file would otherwise choose a command that runs here.
        """
        if self._source is None or not (self._source.has_changed() or self._has_accepted()):
            return
        with suppress(UsageError):  # a call of a tool reports it
            self._compared = self.pins.refresh()
        try:
            upstreams, unusable = self._source.read()
            require_distinct_names(each.name for each in upstreams)
        except UsageError as error:
            self._say(f"the servers stay as they were: {error.message}")
            return
        self._waiting = tuple(each for each in upstreams if not self._may_use(each))
        upstreams = [each for each in upstreams if each not in self._waiting]
        self._used |= {each.name: each.declaration for each in upstreams}
        servers: dict[str, ReviewedServer] = {}
        for each in upstreams:
            known = self.servers.get(each.name)
            servers[each.name] = (
                known if known is not None and known.upstream.is_same_as(each) else self._review(each)
            )
        ended = [each for name, each in self.servers.items() if servers.get(name) is not each]
        self.servers = servers
        self._fronts = {build_prefix(name): name for name in servers}
        reasons = {name: each.error for name, each in unusable.items()}
        reasons |= {
            each.name: self._explain_waiting(each, shows_command=not self._is_remote)
            for each in self._waiting
        }
        self._unusable = _map_unusable(reasons)
        self._offers.clear()
        for server in ended:
            self._end(server)
        for name, declared in unusable.items():
            self._say(f"server {quote(name)} cannot be used: {declared.place}: {declared.error}")
        for each in self._waiting:
            self._say(
                f"server {quote(each.name)} cannot be used: {self._explain_waiting(each, shows_command=True)}"
            )
        self._say(f"read the servers again: {len(servers)} can be used")
        self.changes.announce()

    def _may_use(self, upstream: Upstream) -> bool:
        """Whether a running gateway may use a server as it is declared now."""
        if self._used.get(upstream.name) == upstream.declaration:
            return True
        if (
            upstream.name not in self._used
            and not self.pins.knows(upstream.name)
            and not self.pins.require_review
        ):
            return True  # a server that is seen for the first time
        return self.pins.is_declaration_accepted(upstream.name, upstream.declaration)

    def _has_accepted(self) -> bool:
        """Whether an operator has accepted a changed declaration."""
        if not self._waiting:
            return False
        with suppress(UsageError):  # a call of a tool reports it
            self.pins.refresh()
        if self.pins.generation == self._compared:
            return False
        self._compared = self.pins.generation
        return any(map(self._may_use, self._waiting))

    def _explain_waiting(self, upstream: Upstream, *, shows_command: bool) -> str:
        todo = explain_accepting((upstream.name,), self._accept_options if shows_command else None)
        return f"its declaration has changed since the gateway used it; {todo}"

    def _end(self, server: ReviewedServer) -> None:
        async def end() -> None:
            server.lists.close()
            await asyncio.gather(server.upstream.aclose(), self.sessions.end(server.name))

        task = asyncio.get_running_loop().create_task(end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def offers(self, view: OrgView, tool_ids: Container[str]) -> Offers:
        """The reviewed tools behind some declared tools, by name. Only their servers are asked. Raises `UsageError`."""
        self.refresh()
        offers_by_server = await asyncio.gather(
            *(self._get_offers(view, server, tool_ids) for server in self.servers.values())
        )
        return Offers(
            sorted(
                (each for offers in offers_by_server for each in offers.tools), key=lambda each: each.exposed
            ),
            [each for offers in offers_by_server for each in offers.missing],
        )

    async def find(self, view: OrgView, exposed: str) -> CallTarget | None:
        """Find the target of a name in front of a host.

        Raises `UpstreamError` if the server must be asked and does not answer.
        """
        self.refresh()
        server = self.servers.get(self._fronts.get(exposed.partition("__")[0], ""))
        if server is None:
            return None
        server.refresh()
        name = await server.get_tool_called(exposed)
        if name is None:
            return None
        return CallTarget(server, name, find_bindings(view, (server.name, name)))

    def explain_missing(self, exposed: str) -> str:
        """Why no tool has this name in front of a host. Empty if nothing is known about it."""
        name, reason = self._unusable.get(exposed.partition("__")[0], ("", ""))
        return f"server {quote(name)} cannot be used: {reason}" if name else ""

    def get_schema(self, exposed: str) -> Any:
        """The argument schema of an accepted tool, by its name in front of a host. No server is asked."""
        server = self.servers.get(self._fronts.get(exposed.partition("__")[0], ""))
        return None if server is None else server.get_schema_called(exposed)

    async def aclose(self) -> None:
        """End every server that was started."""
        self.changes.close()
        for each in self.servers.values():
            each.lists.close()
        ended = [each.upstream.aclose() for each in self.servers.values()]
        await asyncio.gather(*ended, self.sessions.aclose(), *self._ending)

    async def _get_offers(self, view: OrgView, server: ReviewedServer, tool_ids: Container[str]) -> Offers:
        declared = map_server_tools(view, server.name)
        if not any(each in tool_ids for each in declared):
            return Offers([], [])  # it is neither started nor waited for
        listing = await server.list_definitions()
        missing = [] if listing.missing is None else [listing.missing]
        return Offers(self._match_offers(view, server, listing.items or {}, declared), missing)

    def _match_offers(
        self,
        view: OrgView,
        server: ReviewedServer,
        definitions: Mapping[str, ToolDefinition],
        declared: Mapping[str, Tool],
    ) -> Sequence[OfferedTool]:
        known = self._offers.get((view.org_id, server.name))
        if known is not None and known[0] is view and known[1] is definitions:
            return known[2]
        offers, several = match_offers(server.name, definitions, declared)
        for name, bindings in several.items():
            ids = ", ".join(quote(each.tool_id) for each in bindings)
            self._say(
                f"tool {quote(name)} of server {quote(server.name)} is declared several times ({ids}), so no role has it"
            )
        self._offers[view.org_id, server.name] = view, definitions, tuple(offers)
        return offers


def _map_unusable(unusable: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Servers that cannot be used and the reasons, by the beginning of the names of their tools."""
    return {build_prefix(name): (name, reason) for name, reason in unusable.items()}


def match_offers(
    server: str, definitions: Mapping[str, ToolDefinition], declared: Mapping[str, Tool]
) -> tuple[list[OfferedTool], dict[str, tuple[ToolBinding, ...]]]:
    """The declared tools of a server, and those that are declared several times, which no role gets."""
    offers: list[OfferedTool] = []
    several: dict[str, tuple[ToolBinding, ...]] = {}
    for exposed, name in map_tool_names(server, definitions).items():
        bindings = bind(declared, server, name)
        if len(bindings) == 1:
            shown = {**make_visible(definitions[name]), "name": exposed}
            offers.append(OfferedTool(exposed, server, shown, bindings[0]))
        elif bindings:
            several[name] = bindings
    return offers, several


def build_shown_definition(offer: OfferedTool, asks: bool) -> dict[str, Any]:
    """The definition that the host of a caller sees. It tells whether each call needs an approval."""
    shown = dict(offer.shown)
    if asks:
        shown["description"] = f"{shown.get('description') or ''} (each call needs an approval)".strip()
        shown["_meta"] = {**(shown.get("_meta") or {}), "orgkernel/access": "ask"}
    return shown


def make_visible(value: Any) -> Any:
    """A value with all invisible characters escaped."""
    return map_texts(value, escape_lines)
