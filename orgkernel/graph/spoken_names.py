"""The names that people type for roles, agents and tools: ids, names, callsigns and files, in any case and with any separators.

Programs state ids. A name is looked up only for a person at a command line, or for a hint, and never by a decision.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from orgkernel.diagnostics.wording import LISTED, did_you_mean, listing, quote, suggest
from orgkernel.graph.memo import PerView
from orgkernel.graph.out_of_service import find_out_of_service
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.graph.schema import EdgeKind
from orgkernel.loading.sources import NAMES_BEFORE

_MIN_PART_LENGTH = 4
"""Minimum length of a part of a name that is worth a hint."""
_SUGGESTED = 3
_SUFFIXES = (".agent.md", ".chatmode.md", ".md", ".yaml", ".yml", ".toml", ".json")


def fold_name(name: str) -> str:
    """A name without case and separators.

    >>> fold_name("Code Reviewer"), fold_name("code_reviewer"), fold_name("se-playwright-tester")
    ('codereviewer', 'codereviewer', 'seplaywrighttester')
    """
    return "".join(each for each in name.casefold() if each.isalnum())


def _index(named: Iterable[tuple[str, Iterable[str]]]) -> Mapping[str, tuple[str, ...]]:
    ids: dict[str, dict[str, None]] = defaultdict(dict)
    for own, names in named:
        for name in names:
            if folded := fold_name(name):
                ids[folded][own] = None
    return {folded: tuple(those) for folded, those in ids.items()}


def _list_role_names(post: RolePost) -> Iterable[str]:
    name = post.document.name
    base = os.path.basename(name)
    stem = next((base.removesuffix(each) for each in _SUFFIXES if base.endswith(each)), base)
    before = [each for route, names in post.document.unknown if route == (NAMES_BEFORE,) for each in names]
    return (post.role_id, post.profile.name, *before, stem, base, name)


@PerView
def _get_role_names(view: OrgView) -> Mapping[str, tuple[str, ...]]:
    named = [(role_id, _list_role_names(post)) for role_id, post in view.records.posts.items()]
    agents = view.records.agents
    callsigns = [
        (edge.target, (agents[edge.source].record.callsign,))
        for edge in view.list_edges_of_kind(EdgeKind.FILLS)
        if edge.source in agents
    ]
    return _index([*named, *callsigns])


@PerView
def _get_agent_names(view: OrgView) -> Mapping[str, tuple[str, ...]]:
    return _index(
        (agent_id, (agent_id, definition.record.callsign))
        for agent_id, definition in view.records.agents.items()
    )


@PerView
def _get_tool_names(view: OrgView) -> Mapping[str, tuple[str, ...]]:
    return _index((tool_id, (tool_id, tool.record.name)) for tool_id, tool in view.records.tools.items())


_NAMES = {"role": _get_role_names, "agent": _get_agent_names, "tool": _get_tool_names}


def find_named(view: OrgView, kind: str, name: str) -> tuple[str, ...]:
    """The ids of a kind that a name can mean: the id itself, or all that have the name. Empty for other kinds."""
    ids: Mapping[str, Collection[str]] = {
        "role": view.records.posts, "agent": view.records.agents, "tool": view.records.tools,
    }  # fmt: skip
    if kind not in ids:
        return ()
    if name in ids[kind] or find_out_of_service(view.records, f"{kind}:{name}") is not None:
        return (name,)  # a role or an agent that is out of service is still meant by its id
    return _NAMES[kind](view).get(fold_name(name), ())


def suggest_near_role(view: OrgView, name: str) -> str:
    """Help for an unknown role: those that have this name, the most similar id, or those whose name contains it. Else empty."""
    folded = fold_name(name)
    meant = find_named(view, "role", name)
    if not meant and (near := did_you_mean(name, view.records.posts)):
        return near
    names = _get_role_names(view)
    if not meant and (misspelled := suggest(folded, names)):
        meant = names[misspelled]  # misspelled, and in another case or with other separators
    if not meant and len(folded) >= _MIN_PART_LENGTH:
        meant = tuple(dict.fromkeys(own for each, ids in names.items() if folded in each for own in ids))
    return f"did you mean {' or '.join(map(quote, meant[:_SUGGESTED]))}?" if meant else ""


def suggest_role(view: OrgView, name: str) -> str:
    """Help for an unknown role, which is never empty: near roles, all roles if they are few, or the least distant ones."""
    if near := suggest_near_role(view, name):
        return near
    roles = view.records.posts
    if len(roles) <= LISTED:
        return f"roles are {listing(roles)}"
    from difflib import get_close_matches  # most runs do not need it

    nearest = get_close_matches(name, list(roles), n=_SUGGESTED, cutoff=0.4)
    return f"the nearest are {listing(nearest)}" if nearest else "`orgkernel graph` shows the roles"
