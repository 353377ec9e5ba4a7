"""What the answers have to be, from plain dicts with plain loops. Imports nothing of the project.

Documents are dicts as a reader of JSON would get them; a tree is a dict from path to document. Slow and obvious on
purpose: where it and the project differ, one of them is wrong, and this one can be read in a sitting.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

Doc = Mapping[str, Any]


# -- which documents an organization sees ------------------------------------------------------------------------------


def folder_of(path: str) -> str:
    """The folder a path lies in."""
    return path.rsplit("/", 1)[0]


def home_of(tree: Mapping[str, Doc], folder: str) -> str | None:
    """The nearest folder from here upwards that holds an organization."""
    org_folders = {folder_of(path) for path, document in tree.items() if kind_of(document) == "organization"}
    while folder:
        if folder in org_folders:
            return folder
        folder = folder_of(folder) if "/" in folder else ""
    return None


def kind_of(document: Doc) -> str:
    """The kind a document says it is."""
    return str(document["_schema"]).split(":")[1]


def visible(tree: Mapping[str, Doc], org_path: str, shared: str) -> list[list[str]]:
    """Paths an organization sees: in its own folder, in the folder it lies in, below the shared folder."""
    own_folder = folder_of(org_path)
    parent = folder_of(own_folder)
    own, beside, common = [], [], []
    for path in sorted(tree):
        if path.startswith(shared):
            common.append(path)
        elif home_of(tree, folder_of(path)) == own_folder:
            own.append(path)
        elif path.startswith(parent + "/") and home_of(tree, folder_of(path)) == home_of(tree, parent):
            beside.append(path)
    return [own, beside, common]


def find_profile(tree: Mapping[str, Doc], org_path: str, shared: str, role_id: str) -> str | None:
    """Path of the nearest profile of a role."""
    for group in visible(tree, org_path, shared):
        for path in group:
            if kind_of(tree[path]) == "role_profile" and tree[path]["role_id"] == role_id:
                return path
    return None


def merged(tree: Mapping[str, Doc], org_path: str, shared: str, kind: str, section: str) -> dict[str, Any]:
    """The entries of all catalogs of a kind; of two entries of one id, the nearer."""
    entries: dict[str, Any] = {}
    for group in visible(tree, org_path, shared):
        for path in group:
            if kind_of(tree[path]) == kind:
                for entry_id, entry in tree[path].get(section, {}).items():
                    if entry_id not in entries:
                        entries[entry_id] = entry
    return entries


# -- command -----------------------------------------------------------------------------------------------------------


def included_roles(organization: Doc) -> list[str]:
    """Every role the hierarchy names: its keys, then subordinates without a key."""
    names = list(organization["hierarchy"])
    for post in organization["hierarchy"].values():
        for subordinate in post.get("subordinates", []):
            if subordinate not in names:
                names.append(subordinate)
    return names


def superior(organization: Doc, profiles: Mapping[str, Doc], role_id: str) -> str | None:
    """Whom a role reports to: the first that lists it, else whom its own profile names."""
    for candidate, post in organization["hierarchy"].items():
        if role_id in post.get("subordinates", []):
            return str(candidate)
    if role_id in profiles:
        named = profiles[role_id].get("chain_of_command", {}).get("reports_to")
        return None if named is None else str(named)
    return None


def externals(organization: Doc) -> set[str]:
    """Superiors outside the organization."""
    return {"user", *organization.get("external", [])}


def chain_of_command(organization: Doc, profiles: Mapping[str, Doc], role_id: str) -> list[str]:
    """All superiors of a role, nearest first; a cycle is followed until a role is repeated."""
    chain: list[str] = []
    current = superior(organization, profiles, role_id)
    while current is not None:
        chain.append(current)
        if current in externals(organization) or chain.count(current) > 1 or current == role_id:
            break
        current = superior(organization, profiles, current)
    return chain


def subordinates(organization: Doc, profiles: Mapping[str, Doc], role_id: str) -> set[str]:
    """The roles that report to a role."""
    return {
        other for other in included_roles(organization) if superior(organization, profiles, other) == role_id
    }


# -- dispatch ----------------------------------------------------------------------------------------------------------

AUTHORITY = {"specialist": 1, "executive": 2, "commander": 3}


def held_tools(profile: Doc, declared: Collection[str]) -> list[str]:
    """Tools in order of preference, without tools at level `none` and undeclared tools."""
    able = profile.get("capabilities", {})
    uses = [*able.get("tools_primary", []), *able.get("tools_secondary", [])]
    uses += [use["tool"] for use in able.get("tools", []) if use.get("level", "full") != "none"]
    tools: list[str] = []
    for tool in uses:
        if tool not in tools and tool in declared:
            tools.append(tool)
    return tools


def meaning(word: str, domains: Mapping[str, Doc], aliases: Mapping[str, str | None]) -> str | None:
    """The domain a word means."""
    return word if word in domains else aliases.get(word)


def distances(domain: str, domains: Mapping[str, Doc]) -> dict[str, int]:
    """The domain and ever broader ones, with how far each is."""
    found: dict[str, int] = {}
    current: str | None = domain
    while current is not None and current not in found:
        found[current] = len(found)
        current = domains.get(current, {}).get("broader")
    return found


def preference(
    organization: Doc, domain: str, domains: Mapping[str, Doc], aliases: Mapping[str, str | None]
) -> list[str]:
    """What `domain_routing` says for a domain, under its own name or under the first alias of it."""
    routing = organization.get("domain_routing", {})
    if domain in routing:
        return list(routing[domain])
    for word, roles in routing.items():
        if meaning(word, domains, aliases) == domain:
            return list(roles)
    return []


def dispatch(
    organization: Doc,
    profiles: Mapping[str, Doc],
    domains: Mapping[str, Doc],
    aliases: Mapping[str, str | None],
    tools: Collection[str],
    word: str,
    needs: tuple[str, ...] = (),
) -> str | None:
    """The role that takes a task, or None. `tools` are those that are declared."""
    domain = meaning(word, domains, aliases)
    if domain is None:
        return None
    best: tuple[Any, ...] | None = None
    for declared, role_id in enumerate(included_roles(organization)):
        if role_id not in profiles:
            continue
        profile = profiles[role_id]
        handled = set(profile.get("capabilities", {}).get("bst_domains", []))
        reach = [(distance, near) for near, distance in distances(domain, domains).items() if near in handled]
        if not reach or not set(needs) <= set(held_tools(profile, tools)):
            continue
        distance, near = min(reach)
        preferred = preference(organization, near, domains, aliases)
        rank = (
            distance,
            AUTHORITY[profile.get("role_type", "specialist")],
            preferred.index(role_id) if role_id in preferred else len(preferred),
            len(handled),
            declared,
            role_id,
        )
        if best is None or rank < best:
            best = rank
    return None if best is None else str(best[-1])
