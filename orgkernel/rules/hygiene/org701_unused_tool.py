"""A tool of an organization's own catalog is not used.

## What it checks

Every tool of an organization's own catalog is used: a role is equipped with it, a plan needs it, another tool falls back to
it, a policy names it, or it is essential.

## Why it matters

A tool that no role is equipped with is refused to everyone. Either a role was forgotten, or the entry is obsolete and only
makes the catalog harder to read.

## Example

```yaml
tools:
  ticket_search: {type: remote_api, side_effects: read}
```

## Instead

```yaml
tools:
  ticket_search: {type: remote_api, side_effects: read, essential: true}
```

## Known limits

Catalogs shared between organizations are not checked. Nothing is reported while a role has no profile or a file could not
be read, because the missing document may use the tool. A tool is treated as used if a profile lists it, even a profile in no
organization.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import PlanStep, RoleProfile, ToolNeed
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.extract import matches_glob
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.unused import find_unused


def check(assembly: Assembly) -> Iterator[Finding]:
    """Find tools of an organization's own catalog that have no use in any organization that sees them."""
    if not assembly.strays_are_known:
        return

    @cache
    def list_tools_of_strays() -> frozenset[str]:
        # A profile that no organization includes yet still shows what the tool is for.
        return frozenset(
            tool for document in assembly.stray_profiles for tool in _iterate_equipment(document.record)
        )

    def list_used(records: OrgRecords) -> Collection[str]:
        if records.without_profile or records.excused or records.incomplete:
            return records.tools  # what could not be read could use any of them
        return _list_used(records) | list_tools_of_strays()

    unused = find_unused(
        assembly,
        lambda records: records.tools,
        lambda tool: tool.own and not tool.record.essential and not tool.document.format,
        list_used,
    )
    for tool in unused:
        yield Finding(
            tool.place(),
            f"tool {quote(tool.id)} is not used by any role, plan, policy or other tool",
            "equip a role with it, or remove it",
            f"tool:{tool.id}",
        )


def _list_used(records: OrgRecords) -> set[str]:
    """The tools that an organization refers to."""
    used = {tool for post in records.posts.values() for tool in _iterate_equipment(post.profile)}
    for plan in records.plans.values():
        used.update(plan.record.tools)
        used.update(tool for step in plan.record.steps if isinstance(step, PlanStep) for tool in step.tools)
    for tool_id, definition in records.tools.items():
        used.update(other for other in definition.record.falls_back_to if other != tool_id)
    for procedure in records.procedures.values():
        for step in procedure.record.steps:
            used.update(need.tool if isinstance(need, ToolNeed) else need for need in step.required_tools)
    for policy in records.policies.values():
        named = policy.record
        for glob in (*(named.named_tools or ()), *named.spared_tools, *named.denied_tools):
            used.update(tool_id for tool_id in records.tools if matches_glob(tool_id, glob))
    return used


def _iterate_equipment(profile: object) -> Iterator[str]:
    if isinstance(profile, RoleProfile):
        capabilities = profile.capabilities
        yield from capabilities.tools_primary
        yield from capabilities.tools_secondary
        yield from (use.tool for use in capabilities.tools if use.level != "none")


RULE = Rule("ORG701", "unused-tool", Severity.WARNING, RuleTarget.TREE, check)
