"""A role or an agent combines duties that must be kept apart.

## What it checks

For each of an organization's `separations`:

- no agent fills two of its roles,
- no role is equipped with two of its tools,
- no agent has two of its tools through all of its roles together.

## Why it matters

An agent with both duties can use one to cover up the other: it approves what it wrote, or pays what it ordered. The
separation exists to prevent that.

## Example

```yaml
agents:
  a1: {assignments: [{role: writer}, {role: reviewer}]}
```

## Instead

```yaml
agents:
  a1: {assignments: [{role: writer}]}
  a2: {assignments: [{role: reviewer}]}
```

## Known limits

The rule does not look at a role that hands work to a role with the other duty. It does not know assignments that the store
has changed.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Separation
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Roles and agents with two duties of one separation."""
    for name, separation in view.records.organization.separations.items():
        declared = view.records.document.place("separations", name, key=True)
        why = f": {quote(separation.description)}" if separation.description else ""
        kept_apart = Related(declared, f"the separation{why}")
        yield from _check_roles(view, name, separation, kept_apart)
        yield from _check_agents(view, name, separation, kept_apart)


def _check_roles(view: OrgView, name: str, separation: Separation, kept_apart: Related) -> Iterator[Finding]:
    for role_id in view.roles if separation.tools else ():
        both = _find_two_tools(view, role_id, separation)
        if len(both) > 1:
            yield _build_finding(
                f"role {quote(role_id)} is equipped with", both, name, f"role:{role_id}", kept_apart
            )


def _find_two_tools(view: OrgView, role_id: str, separation: Separation) -> list[Edge]:
    return [edge for edge in view.list_tools(role_id) if edge.target in separation.tools][:2]


def _check_agents(view: OrgView, name: str, separation: Separation, kept_apart: Related) -> Iterator[Finding]:
    for agent_id in view.records.agents:
        subject = f"agent:{agent_id}"
        filled = view.list_roles_filled_by(agent_id)
        roles = [edge for edge in filled if edge.target in separation.roles]
        if len(roles) > 1:
            yield _build_finding(f"agent {quote(agent_id)} fills", roles, name, subject, kept_apart)
        tools = {
            tool.target: Edge(edge.kind, edge.source, tool.target, "", edge.place)
            for edge in filled
            for tool in view.list_tools(edge.target)
            if tool.target in separation.tools
        }
        one_role_has_two = any(len(_find_two_tools(view, edge.target, separation)) > 1 for edge in filled)
        if len(tools) > 1 and not one_role_has_two:
            both = list(tools.values())
            yield _build_finding(
                f"agent {quote(agent_id)} is equipped through its roles with", both, name, subject, kept_apart
            )


def _build_finding(does: str, both: list[Edge], name: str, subject: str, kept_apart: Related) -> Finding:
    first, second = both[0], both[1]
    return Finding(
        second.place,
        f"{does} {quote(first.target)} and {quote(second.target)}, which separation {quote(name)} keeps apart",
        "move one of them to another role or agent",
        subject,
        (Related(first.place, "the first of the two"), kept_apart),
    )


RULE = Rule("ORG419", "duties-not-separated", Severity.ERROR, RuleTarget.ORGANIZATION, check)
