"""Policies about files that permission rules of Claude Code can express: `Read(**/.env)` and `Edit(/docs/**)`.

A rule is written only for a policy that applies to every subject at all times, and to tools that such a rule
covers. The reader of the rules matches at least the same files and tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgkernel.diagnostics import Place
from orgkernel.documents.records import Match, Policy
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.graph.schema import EdgeKind
from orgkernel.loading.formats.claude_code.parts import EDITING, parse_tool_part


def list_file_rules(
    view: OrgView, named: Mapping[str, str | None]
) -> Iterator[tuple[str, str, tuple[str, ...], Place]]:
    """The policies that rules can express: id, effect, rules and place.

    `named` maps tools to their names in the host.

    If an organization declares its root, it is unknown here whether that root is the host's project.
    """
    if view.records.organization.workspace_root is not None:
        return
    for policy in view.records.policies.values():
        rules = _build_rules(view, policy, named)
        if rules:
            yield policy.id, policy.record.effect, rules, policy.place("permissions", "paths", key=True)


def _build_rules(
    view: OrgView, policy: Definition[Policy], named: Mapping[str, str | None]
) -> tuple[str, ...]:
    record = policy.record
    if not record.enabled or record.fallback or record.match != Match() or record.denied_tools:
        return ()
    if record.effect not in ("deny", "ask") or not record.permissions.paths:
        return ()
    if record.approvals is not None:
        return ()  # in the host, one person would approve
    hosts = {named.get(edge.target) for edge in view.list_edges_from(EdgeKind.COVERS, policy.id)} - {None}
    name = "Edit" if hosts <= {*EDITING} else "Read"
    starts = {
        path: ("",) if path.startswith(("~/", "//")) else ("/", "") for path in record.permissions.paths
    }
    parts = [parse_tool_part(f"{name}({starts[path][0]}{path})") for path in record.permissions.paths]
    for part, path in zip(parts, record.permissions.paths, strict=True):
        if part is None or path not in part.paths or not hosts <= {*part.tools}:
            return ()
    # A `/` may mean the folder of the settings, and without it, the folder in which the host runs is meant.
    return tuple(f"{name}({start}{path})" for path in record.permissions.paths for start in starts[path])
