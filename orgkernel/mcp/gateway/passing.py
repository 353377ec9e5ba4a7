"""Pass prompts and resources on: a caller that may use a tool of a server may read the server's prompts and
resources.

Reading is decided like the use of the server's tool with the lowest requirement, and uses up grants like it. The decision is
recorded with the server and the URI or the prompt. A URI that no server lists, and no listed template matches, is refused. Names of prompts begin with the
server, like those of tools. A resource keeps its URI, because results refer to it. If two servers list the same URI,
the server is put in front (`SERVER+URI`), and the plain URI is unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from orgkernel.decisions.access.tool_input import encode_input
from orgkernel.diagnostics.wording import clean, listing, quote
from orgkernel.documents.records import LEVELS
from orgkernel.errors import Refused, UnknownRecord
from orgkernel.mcp.gateway.bindings import ToolBinding, map_server_tools, shorten_text
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.gateway import McpGateway, make_visible
from orgkernel.mcp.gateway.listing import GatewayList, Usable, find_usable
from orgkernel.mcp.gateway.names import build_exposed_name
from orgkernel.mcp.gateway.refusals import write_refusal
from orgkernel.mcp.gateway.server_lists import ListName, MissingServer
from orgkernel.mcp.gateway.servers import ReviewedServer
from orgkernel.mcp.gateway.uri_templates import does_template_match
from orgkernel.toolbox.upstream_tools import UpstreamError, build_call_request

Listed = Sequence[Mapping[str, Any]]


async def list_prompts(gateway: McpGateway, caller: GatewayCaller) -> GatewayList:
    """The prompts of the servers that a caller may use, by name."""
    listings = await _list_all(await _open_to(gateway, caller), "prompts")
    prompts = [
        {**make_visible(each), "name": build_exposed_name(opened.server.name, each["name"])}
        for opened, listed in listings.each
        for each in listed
        if isinstance(each.get("name"), str)
    ]
    return GatewayList(sorted(prompts, key=lambda each: str(each["name"])), listings.missing)


async def find_prompt(
    gateway: McpGateway, caller: GatewayCaller, exposed: str, arguments: Mapping[str, str]
) -> Mapping[str, Any]:
    """A prompt, from its server. Raises `OrgkernelError`."""
    opened, name = await _find_prompt_owner(gateway, caller, exposed)
    tool_input = {"prompt": name, "arguments": dict(arguments)}
    await _decide_reading(caller, opened, tool_input, {"prompt": name})
    with _use(gateway, opened, caller) as server:
        return await _get_answer(server, server.upstream.get_prompt(name, dict(arguments)))


async def _find_prompt_owner(gateway: McpGateway, caller: GatewayCaller, exposed: str) -> tuple[_Opened, str]:
    """The server of a prompt that a caller sees, and the name of the prompt there. Raises `OrgkernelError`."""
    listings = await _list_all(await _open_to(gateway, caller), "prompts")
    for opened, listed in listings.each:
        for each in listed:
            name = each.get("name")
            if isinstance(name, str) and build_exposed_name(opened.server.name, name) == exposed:
                return opened, name
    _refuse_if_missing(f"prompt {quote(clean(exposed))}", listings.missing)
    raise UnknownRecord(f"there is no prompt {quote(clean(exposed))}", "see `prompts/list`")


async def find_completions(
    gateway: McpGateway,
    caller: GatewayCaller,
    reference: Mapping[str, Any],
    argument: Mapping[str, str],
    known: Mapping[str, str],
) -> Mapping[str, Any]:
    """Values for an argument of a prompt or of a template of resources, from its server. Raises `OrgkernelError`.

    `reference` names the prompt or the template as the caller sees it, and `known` has the other arguments. It is decided like reading
    what it completes, because the values are data of the server.
    """
    if reference.get("type") == "ref/prompt":
        opened, name = await _find_prompt_owner(gateway, caller, str(reference.get("name")))
        target, about = {"type": "ref/prompt", "name": name}, {"prompt": name}
    else:
        opened, uri = await _find_resource_owner(
            gateway, caller, str(reference.get("uri")), _find_template_owners
        )
        target, about = {"type": "ref/resource", "uri": uri}, {"uri": uri}
    await _decide_reading(
        caller, opened, {**about, "argument": dict(argument), "arguments": dict(known)}, about
    )
    with _use(gateway, opened, caller) as server:
        return await _get_answer(server, server.upstream.complete(target, argument, known))


async def list_resources(gateway: McpGateway, caller: GatewayCaller) -> GatewayList:
    """The resources of the servers that a caller may use, by URI."""
    listings = await _list_all(await _open_to(gateway, caller), "resources")
    return GatewayList(_drop_ambiguous(listings.each, "uri"), listings.missing)


async def list_templates(gateway: McpGateway, caller: GatewayCaller) -> GatewayList:
    """The templates of resources of the servers that a caller may use, by URI."""
    listings = await _list_all(await _open_to(gateway, caller), "resource_templates")
    return GatewayList(_drop_ambiguous(listings.each, "uriTemplate"), listings.missing)


async def find_resource(gateway: McpGateway, caller: GatewayCaller, uri: str) -> Mapping[str, Any]:
    """A resource, from the only server that has it. Raises `OrgkernelError`."""
    owner, uri = await _find_resource_owner(gateway, caller, uri, _find_owners)
    await _decide_reading(caller, owner, {"uri": uri}, {"uri": uri})
    with _use(gateway, owner, caller) as server:
        return await _get_answer(server, server.upstream.read_resource(uri))


async def _find_resource_owner(
    gateway: McpGateway, caller: GatewayCaller, uri: str, find_owners: _FindOwners
) -> tuple[_Opened, str]:
    """The only server that has a resource or a template, and its URI there. Raises `OrgkernelError`."""
    open_to = await _open_to(gateway, caller)
    listed, templates = await asyncio.gather(
        _list_all(open_to, "resources"), _list_all(open_to, "resource_templates")
    )
    owners = find_owners(listed.each, templates.each, uri)
    front, _, rest = uri.partition("+")
    if (
        not owners
        and rest
        and (
            named := [
                each for each in find_owners(listed.each, templates.each, rest) if each.server.name == front
            ]
        )
    ):
        owners, uri = named, rest
    if not owners:
        _refuse_if_missing(f"resource {quote(clean(uri))}", (*listed.missing, *templates.missing))
        raise UnknownRecord(f"there is no resource {quote(clean(uri))}", "see `resources/list`")
    if len(owners) > 1:
        names = [opened.server.name for opened in owners]
        raise Refused(
            f"several servers have {quote(clean(uri))}: {listing(names)}",
            f"put the server in front, such as {quote(clean(f'{names[0]}+{uri}'))}",
            "AMBIGUOUS_RESOURCE",
        )
    (owner,) = owners
    return owner, uri


@contextmanager
def _use(gateway: McpGateway, opened: _Opened, caller: GatewayCaller) -> Iterator[ReviewedServer]:
    """The connection of a caller to a server, or the shared one. Raises `Refused` if there are too many."""
    try:
        server = gateway.sessions.enter(opened.server, caller.id, caller.subject_token)
    except UpstreamError as error:
        message = f"server {quote(opened.server.name)}: {error.error}"
        raise Refused(message, "try again later", "TOOL_UNAVAILABLE") from None
    try:
        yield server
    finally:
        gateway.sessions.leave(server, caller.id, caller.subject_token)


class _Opened(NamedTuple):
    """A server of which a caller may use a tool."""

    server: ReviewedServer
    least_use: ToolBinding


async def _open_to(gateway: McpGateway, caller: GatewayCaller) -> list[_Opened]:
    """The servers that are open to a caller."""
    gateway.refresh()
    usable, view = await find_usable(gateway, caller), await caller.view()
    return [
        _Opened(server, use)
        for server in gateway.servers.values()
        if (use := _find_least_use(usable, gateway, view, server)) is not None and server.is_reviewed()
    ]


_FindOwners = Callable[
    [Sequence[tuple[_Opened, Listed]], Sequence[tuple[_Opened, Listed]], str], list[_Opened]
]
"""Finds the servers of a URI in the lists of resources and of templates."""


class _Listings(NamedTuple):
    """The lists of some servers, and those that did not answer."""

    each: list[tuple[_Opened, Listed]]
    missing: tuple[MissingServer, ...]


async def _list_all(open_to: Sequence[_Opened], name: ListName) -> _Listings:
    """The lists of the servers: of a server that does not answer the last known one."""
    lists = await asyncio.gather(*(opened.server.lists.read(name) for opened in open_to))
    items = [(opened, each.items or ()) for opened, each in zip(open_to, lists, strict=True)]
    return _Listings(items, tuple(each.missing for each in lists if each.missing is not None))


def _refuse_if_missing(what: str, missing: Iterable[MissingServer]) -> None:
    """Refuse to say that something does not exist while a server that could have it does not answer. Raises `Refused`."""
    servers = {each.server: each.reason for each in missing}
    if servers:
        silent = ", ".join(f"{quote(server)} ({reason})" for server, reason in servers.items())
        raise Refused(
            f"{what} is on no server that answers; these servers do not answer: {silent}",
            "try again later",
            "TOOL_UNAVAILABLE",
        )


def _find_least_use(
    usable: Usable, gateway: McpGateway, view: Any, server: ReviewedServer
) -> ToolBinding | None:
    """Find the use of a server's tool with the lowest requirement among those that the caller has without approval."""
    candidates: list[tuple[int, str, str]] = []
    for tool_id, tool in map_server_tools(view, server.name).items():
        for action, asks in usable.get(tool_id, {}).items():
            if not asks and action in tool.required_levels:
                candidates.append((LEVELS.index(tool.required_levels[action]), tool_id, action))
    return ToolBinding(min(candidates)[1], (min(candidates)[2],)) if candidates else None


async def _decide_reading(
    caller: GatewayCaller, opened: _Opened, tool_input: dict[str, Any], about: Mapping[str, str]
) -> None:
    """Decide about reading from a server, and record the decision with the server and what is read. Raises `Refused`."""
    use = opened.least_use
    encoded = encode_input(tool_input)
    request = build_call_request(caller.base, use.tool_id, use.actions[0], encoded)
    named = {"server": opened.server.name, **about}
    tools = await caller.tools()
    decision = await tools.decide(
        caller.org_id,
        request,
        encoded,
        caller.actor_name,
        {name: shorten_text(text) for name, text in named.items()},
    )
    if decision.outcome != "allow":
        raise Refused(await write_refusal(caller, request), "", decision.code)


async def _get_answer(
    server: ReviewedServer, pending_answer: Awaitable[Mapping[str, Any]]
) -> Mapping[str, Any]:
    try:
        return await pending_answer
    except UpstreamError as error:
        message = f"server {quote(server.name)} does not answer: {clean(error.error)}"
        raise Refused(message, "try again later", "TOOL_UNAVAILABLE") from None


def _drop_ambiguous(listings: Sequence[tuple[_Opened, Listed]], field: str) -> list[dict[str, Any]]:
    """The lists of servers, without URIs that several servers have."""
    owners: dict[str, set[str]] = {}
    for opened, listed in listings:
        for each in listed:
            owners.setdefault(str(each.get(field)), set()).add(opened.server.name)
    shown = []
    for opened, listed in listings:
        for each in listed:
            uri = str(each.get(field))
            if make_visible(uri) != uri or "\n" in uri:
                continue  # a URI has only characters that can be seen, and a reader has to repeat it exactly
            name = uri if len(owners[uri]) == 1 else f"{opened.server.name}+{uri}"
            shown.append({**make_visible(each), field: name})
    return sorted(shown, key=lambda each: str(each[field]))


def _find_owners(
    resources: Sequence[tuple[_Opened, Listed]], templates: Sequence[tuple[_Opened, Listed]], uri: str
) -> list[_Opened]:
    """The servers that list a resource. If there are none, those with a template that it matches."""
    return [opened for opened, entries in resources if any(each.get("uri") == uri for each in entries)] or [
        opened
        for opened, entries in templates
        if any(does_template_match(each.get("uriTemplate"), uri) for each in entries)
    ]


def _find_template_owners(
    resources: Sequence[tuple[_Opened, Listed]], templates: Sequence[tuple[_Opened, Listed]], uri: str
) -> list[_Opened]:
    """The servers that list a template, or a resource, with exactly this URI."""
    return [
        opened
        for listed, field in ((templates, "uriTemplate"), (resources, "uri"))
        for opened, entries in listed
        if any(each.get(field) == uri for each in entries)
    ]
