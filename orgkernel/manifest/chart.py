"""Draw the org chart: as a tree for a terminal, as Mermaid and DOT for documents, as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from unicodedata import east_asian_width

import msgspec

from orgkernel.diagnostics.wording import printable
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import SCHEMA, EdgeKind
from orgkernel.manifest.v1 import encode

_WIDTH = 80
_MAX_INDENT = 40
_NARROW = frozenset("└─├│…")


def render_tree(view: OrgView, width: int = _WIDTH) -> str:
    """One line per role, subordinates below their superior, at most `width` columns wide."""
    count = len(view.roles)
    lines = [
        _cut(f"{view.records.organization.name} ({view.org_id}), {count} role{'s' * (count != 1)}", width)
    ]
    below = _map_subordinates(view)
    shown: set[str] = set()
    roots = [role_id for role_id in below if _get_chart_superior(view, role_id) is None]
    roots += [cycle[0] for cycle in view.find_cycles(EdgeKind.REPORTS_TO)]
    for number, root in enumerate(roots):
        lines += _render_branch(view, below, root, number == len(roots) - 1, shown, width)
    return "".join(f"{line}\n" for line in lines)


def _map_subordinates(view: OrgView) -> dict[str, list[str]]:
    """Every role, including roles without a profile and those out of service, and its direct subordinates."""
    names = dict.fromkeys((*view.roles, *view.records.without_profile, *view.records.withheld))
    return {
        name: [edge.source for edge in view.list_subordinates(name) if edge.source in names] for name in names
    }


def _get_chart_superior(view: OrgView, role_id: str) -> str | None:
    """The superior in the tree. A role whose superior is not declared is at the top."""
    superior = view.get_superior(role_id)
    records = view.records
    is_known = any(superior in each for each in (records.posts, records.without_profile, records.withheld))
    return superior if is_known else None


def _render_branch(
    view: OrgView,
    below: Mapping[str, Sequence[str]],
    root: str,
    last: bool,
    shown_roles: set[str],
    width: int,
) -> Iterator[str]:
    """The role and all roles below it, without recursion, because a chain of command can be long."""
    pending = [(root, "", last)]
    while pending:
        role, indent, last = pending.pop()
        prefix = _indent(indent) + ("└── " if last else "├── ")
        if role in shown_roles:
            yield _cut(f"{prefix}{role} (again: its chain of command is a cycle)", width)
            continue
        shown_roles.add(role)
        yield _render_line(view, role, prefix, width)
        deeper = indent + ("    " if last else "│   ")
        pending.extend((each, deeper, number == 0) for number, each in enumerate(reversed(below[role])))


def _indent(indent: str) -> str:
    """The indentation that fits. Deeper roles show their depth instead."""
    if len(indent) <= _MAX_INDENT:
        return indent
    depth = f"{len(indent) // 4 + 1} "
    return depth + indent[len(depth) - _MAX_INDENT :]


def _render_line(view: OrgView, role_id: str, prefix: str, width: int) -> str:
    post = view.records.posts.get(role_id)
    if post is None:
        lacks = "out of service" if role_id in view.records.withheld else "no profile"
        return _cut(f"{prefix}{role_id} ({lacks})", width)
    name = f"  {printable(post.profile.role_name[:width])}" if post.profile.role_name else ""
    text = f"{prefix}{role_id}{name}"
    domains = [edge.target for edge in view.list_domains(role_id)]
    for count in range(len(domains), 0, -1):
        more = f" +{len(domains) - count}" if count < len(domains) else ""
        line = f"{text}: {', '.join(domains[:count])}{more}"
        if _measure_width(line) <= width:
            return line
    return _cut(text, width)


def _cut(text: str, width: int) -> str:
    """A line without control characters, truncated to a width."""
    line = printable(text[: width + 1])
    if _measure_width(line) <= width:
        return line
    while _measure_width(line) > width - 1:
        line = line[:-1]
    return f"{line}…"


def _measure_width(text: str) -> int:
    """The width of a text in a terminal. A character of ambiguous width counts as wide."""
    return sum(1 + (east_asian_width(character) in "WFA" and character not in _NARROW) for character in text)


def render_mermaid(view: OrgView) -> str:
    """A flowchart of the chain of command."""
    lines = ["flowchart TD"]
    number = {role_id: f"r{position}" for position, role_id in enumerate(view.roles)}
    lines += [f'  {number[role_id]}["{_build_label(view, role_id, "<br/>")}"]' for role_id in view.roles]
    lines += [f"  {number[superior]} --> {number[role_id]}" for superior, role_id in _list_command(view)]
    return "\n".join(lines) + "\n"


def render_dot(view: OrgView) -> str:
    """A Graphviz digraph of the chain of command."""
    lines = [f'digraph "{view.org_id}" {{', "  node [shape=box];"]
    lines += [
        f'  "{role_id}" [label="{_build_label(view, role_id, chr(92) + "n")}"];' for role_id in view.roles
    ]
    lines += [f'  "{superior}" -> "{role_id}";' for superior, role_id in _list_command(view)]
    return "\n".join([*lines, "}"]) + "\n"


def render_json(view: OrgView) -> str:
    """Every node and edge, each edge with its line."""
    nodes: dict[tuple[str, str], None] = {}
    edges = []
    for kind in EdgeKind:
        source_kind, target_kind = SCHEMA[kind].source.value, SCHEMA[kind].target.value
        for edge in view.list_edges_of_kind(kind):
            nodes.setdefault((source_kind, edge.source))
            nodes.setdefault((target_kind, edge.target))
            edges.append(
                {
                    "kind": kind.value,
                    "source": f"{source_kind}:{edge.source}",
                    "target": f"{target_kind}:{edge.target}",
                    "attribute": edge.attribute,
                    "file": edge.place.file,
                    "line": edge.place.line,
                }
            )
    listed = [{"id": f"{kind}:{name}", "kind": kind} for kind, name in nodes]
    chart = {"org_id": view.org_id, "nodes": listed, "edges": edges, "snapshot": view.digest}
    return msgspec.json.format(encode(chart), indent=2).decode() + "\n"


def _list_command(view: OrgView) -> Iterator[tuple[str, str]]:
    for role_id in view.roles:
        superior = view.get_superior_in_service(role_id)
        if superior is not None and view.is_role(superior):
            yield superior, role_id


def _build_label(view: OrgView, role_id: str, line_break: str) -> str:
    domains = ", ".join(edge.target for edge in view.list_domains(role_id))
    name = view.records.posts[role_id].profile.name
    kept = "".join(character for character in name if character.isalnum() or character in " -_.&/()").strip()
    safe = kept or role_id
    return f"{safe}{line_break}{domains}" if domains else safe
