"""The org chart: as a tree for a terminal, as Mermaid and DOT for documents, as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from orgkernel.crew.v1 import encode
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import SCHEMA, EdgeKind

_WIDTH = 80


def render_tree(view: OrgView) -> str:
    """One role a line, subordinates below their superior, at most 80 columns wide."""
    organization = view.records.organization
    lines = [f"{organization.name} ({view.org_id}), {len(view.roles)} roles"]
    shown: set[str] = set()
    roots = [
        *view.roots(),
        *(circle[0] for circle in view.cycles(EdgeKind.REPORTS_TO) if view.is_role(circle[0])),
    ]
    for number, root in enumerate(roots):
        lines += _branch(view, root, "", number == len(roots) - 1, shown)
    return "".join(f"{line}\n" for line in lines)


def _branch(view: OrgView, role_id: str, indent: str, last: bool, shown: set[str]) -> Iterator[str]:
    """The role and everybody below it, without recursion: a chain of command can be long."""
    pending = [(role_id, indent, last)]
    while pending:
        role, indent, last = pending.pop()
        if role in shown:
            yield _cut(f"{indent}{'└── ' if last else '├── '}{role} (again: it reports in a circle)")
            continue
        shown.add(role)
        yield _line(view, role, indent + ("└── " if last else "├── "))
        below = [edge.source for edge in view.subordinates_of(role) if view.is_role(edge.source)]
        deeper = indent + ("    " if last else "│   ")
        pending.extend((each, deeper, number == 0) for number, each in enumerate(reversed(below)))


def _line(view: OrgView, role_id: str, prefix: str) -> str:
    profile = view.records.posts[role_id].profile
    text = f"{prefix}{role_id}  {profile.name}" if profile.role_name else f"{prefix}{role_id}"
    domains = ", ".join(edge.target for edge in view.domains_of(role_id))
    return _cut(f"{text}: {domains}" if domains else text)


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


def render_mermaid(view: OrgView) -> str:
    """A flowchart of the chain of command."""
    lines = ["flowchart TD"]
    number = {role_id: f"r{position}" for position, role_id in enumerate(view.roles)}
    lines += [f'  {number[role_id]}["{_label(view, role_id, "<br/>")}"]' for role_id in view.roles]
    lines += [f"  {number[superior]} --> {number[role_id]}" for superior, role_id in _command(view)]
    return "\n".join(lines) + "\n"


def render_dot(view: OrgView) -> str:
    """A Graphviz digraph of the chain of command."""
    lines = [f'digraph "{view.org_id}" {{', "  node [shape=box];"]
    lines += [f'  "{role_id}" [label="{_label(view, role_id, chr(92) + "n")}"];' for role_id in view.roles]
    lines += [f'  "{superior}" -> "{role_id}";' for superior, role_id in _command(view)]
    return "\n".join([*lines, "}"]) + "\n"


def render_json(view: OrgView) -> str:
    """Every node and edge, each edge with its line."""
    nodes: dict[tuple[str, str], None] = {}
    edges = []
    for kind in EdgeKind:
        source_kind, target_kind = SCHEMA[kind].source.value, SCHEMA[kind].target.value
        for edge in view.edges_of(kind):
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


def _command(view: OrgView) -> Iterator[tuple[str, str]]:
    for role_id in view.roles:
        superior = view.superior_of(role_id)
        if superior is not None and view.is_role(superior):
            yield superior, role_id


def _label(view: OrgView, role_id: str, line_break: str) -> str:
    domains = ", ".join(edge.target for edge in view.domains_of(role_id))
    name = view.records.posts[role_id].profile.name
    safe = "".join(character for character in name if character.isalnum() or character in " -_.&/()")
    return f"{safe}{line_break}{domains}" if domains else safe
