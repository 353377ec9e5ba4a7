"""Combines the files of all profiles: builds the organization and the tools of each profile."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from orgkernel.documents.records import HierarchyEntry, RoleProfile, StandingOrder, Tool, ToolCatalog
from orgkernel.loading.files import Root
from orgkernel.loading.formats.building import add_tools, complete_with, replace_document
from orgkernel.loading.formats.equipment import is_plain, list_declared_tools
from orgkernel.loading.formats.names import build_server_tool_id, build_tool_id
from orgkernel.loading.formats.organizations import build_organization, get_organization_name
from orgkernel.loading.formats.servers import build_server_tool
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.marks import pack_mark
from orgkernel.loading.sources import Completion, LoadedFile, SourceDocument

_FIRST = pack_mark(1, 1)
_NEVER_BLOCKED = "response"


def complete(root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
    """Combine the files of one root."""
    documents = [document for file in files for document in file.read.documents]
    roles = [each for each in documents if isinstance(each.record, RoleProfile)]
    if not roles:
        return Completion({}, ())
    policies = {each.unknown[0][1]: each for each in documents if each.kind == "tool_catalog"}
    built_in = [tool for file in own for each in file.read.documents for tool in list_declared_tools(each)]
    unread = {
        os.path.dirname(each.path)
        for file in files
        for each in file.read.broken
        if each.kind == "tool_catalog"
    }
    made: list[SourceDocument] = []
    known = dict.fromkeys(built_in)
    for policy in policies.values():
        if tools := dict(_list_undeclared_tools(policy, known)):
            known |= dict.fromkeys(tools)
            at = policy.marks[0]
            marks = (_FIRST, {"tools": (at, (at, dict.fromkeys(tools, (at, at))))})
            made.append(complete_with(policy, "tool_catalog", ToolCatalog(tools=tools), marks))
    instead = {id(role): _equip(role, policies, known, unread) for role in roles}
    made.append(_build_organization(root, roles))
    return Completion(instead, tuple(made))


def join_prompts(files: Sequence[LoadedFile]) -> dict[int, SourceDocument | None]:
    """The replacements of orders by identity, where a profile has a prompt for its role and one with specifics. The host
    puts both into one prompt, the role first.
    """
    by_folder: dict[str, list[SourceDocument]] = {}
    for file in files:
        for document in file.read.documents:
            if isinstance(document.record, StandingOrder):
                by_folder.setdefault(os.path.dirname(document.path), []).append(document)
    replaced: dict[int, SourceDocument | None] = {}
    for orders in by_folder.values():
        if len(orders) > 1:
            first, *others = sorted(orders, key=lambda each: os.path.basename(each.path))
            texts = [each.record.body.rstrip("\n") for each in (first, *others)]  # type: ignore[attr-defined]
            joined = replace(first.record, body="\n\n".join(texts) + "\n")
            replaced[id(first)] = replace_document(first, joined, first.marks)
            replaced |= dict.fromkeys(map(id, others), None)
    return replaced


def split_tool_name(word: str) -> tuple[str, str, str] | None:
    """The id, the server or plugin, and the name of a tool in a policy. None if the word is not a tool.

    >>> split_tool_name("local:response"), split_tool_name("plugin:mail:send"), split_tool_name("mcp:web:open")
    (('response', '', 'response'), ('send', 'mail', 'send'), ('mcp__web__open', 'web', 'open'))
    """
    kind, _, rest = word.partition(":")
    if kind == "local" and is_plain(rest):
        return rest, "", rest
    of, _, name = rest.partition(":")
    if kind == "plugin" and is_plain(name):
        return name, of, name
    if kind == "mcp" and of and is_plain(build_tool_id(of, name)):
        return build_tool_id(of, name) if name else build_server_tool_id(of), of, name
    return None


def _list_undeclared_tools(policy: SourceDocument, known: Mapping[str, None]) -> Iterator[tuple[str, Tool]]:
    """Tools that a policy names and that are not declared yet. Their side effects are unknown."""
    words = get_list_words(policy)
    for word in (*words.get("allowed", ()), *words.get("blocked", ())):
        meant = split_tool_name(word)
        if meant is not None and meant[0] not in known:
            tool_id, of, name = meant
            if word.startswith("mcp:"):
                yield tool_id, build_server_tool(of, name)
            else:
                description = f"The tool {name} of the plugin {of}." if of else f"The tool {name}."
                yield (
                    tool_id,
                    Tool(
                        description=description, type="utility_agent", provider=of, side_effects="destructive"
                    ),
                )


def _equip(
    role: SourceDocument, policies: Mapping[str, SourceDocument], known: Mapping[str, None], unread: set[str]
) -> SourceDocument:
    """The role with the tools that its policy allows. Without a policy, it has all tools."""
    record, marks = role.record, role.marks
    assert isinstance(record, RoleProfile)
    policy = policies.get(record.role_id)
    words = get_list_words(policy) if policy is not None else {}
    if any(each.startswith(os.path.join(os.path.dirname(role.path), "")) for each in unread):
        words = {"mode": "custom", "default": "block", "mcp_default": "block"}
    tools = list(known)
    if words.get("mode") == "custom":
        listed = {
            key: {meant[0] for word in words.get(key, ()) if (meant := split_tool_name(word))}
            for key in ("allowed", "blocked")
        }
        tools = [
            tool
            for tool in known
            if tool == _NEVER_BLOCKED
            or (tool not in listed["blocked"] and (tool in listed["allowed"] or _is_allowed(tool, words)))
        ]
    changed = replace(record, capabilities=replace(record.capabilities, tools_primary=tuple(tools)))
    return replace_document(role, changed, add_tools(marks, [marks[0]] * len(tools)))


def _is_allowed(tool: str, words: Mapping[str, Any]) -> bool:
    """Whether a policy allows tools that it does not list."""
    key = "mcp_default" if tool.startswith("mcp__") and "mcp_default" in words else "default"
    return bool(words.get(key, "block") == "allow")


def _build_organization(root: Root, roles: Sequence[SourceDocument]) -> SourceDocument:
    """The organization of all profiles, without a chain of command, because no file declares one."""
    ids = (each.record.role_id for each in roles if isinstance(each.record, RoleProfile))
    name = os.path.dirname(os.path.dirname(roles[0].name)) or os.curdir
    hierarchy = dict.fromkeys(ids, HierarchyEntry())
    return build_organization(roles[0], root.path, get_organization_name(root), hierarchy, name=name)
