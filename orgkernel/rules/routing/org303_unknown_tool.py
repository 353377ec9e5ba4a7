"""A document names a tool that no catalog declares.

## What it checks

Every tool that a document names is declared by a tool catalog that the organization sees. This covers the tools that

- a role is equipped with or may grant,
- a plan or one of its steps needs,
- a step of a procedure calls,
- a skill prefers,
- another tool falls back to or is essential with,
- a policy names,
- a qualification unlocks,
- a separation of the organization keeps apart.

## Why it matters

Access to an undeclared tool is denied. The role appears to have the tool, its runtime refuses the call, and no role can
follow a plan that needs it.

## Example

```yaml
tools_primary:
  - code_execution_tol
```

## Instead

```yaml
tools_primary:
  - code_execution_tool
```

## Known limits

An undeclared name in a profile has no effect for its role. The rest of the organization is served, and the finding
remains an error of that role.

Nothing is reported while a tool catalog could not be read. The tools of a server, written `server.tool`, must be declared
like all others. A prefix in a policy that matches nothing is reported by ORG425.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean_tool
from orgkernel.documents.records import EssentialFor
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.references import Reference, find_undeclared, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared ids that are used as tools."""
    tools = view.records.tools
    if "tool_catalog" in view.records.incomplete:
        return
    names = {tool_id: tool.record.names.values() for tool_id, tool in tools.items()}
    unknown = find_undeclared(
        view, EdgeKind.EQUIPPED_WITH, EdgeKind.NEEDS, EdgeKind.FALLS_BACK_TO, EdgeKind.COVERS,
        EdgeKind.MAY_GRANT, EdgeKind.CALLS,
        known=tools, also=_iterate_entry_references(view.records),
    )  # fmt: skip
    yield from report_undeclared(unknown, "tool", lambda word: did_you_mean_tool(word, names))


def _iterate_entry_references(records: OrgRecords) -> Iterator[Reference]:
    for skill in records.skills.values():
        for number, word in enumerate(skill.record.preferred_tools):
            yield Reference(skill.place("preferred_tools", number), "skill", skill.id, "prefers", word)
    for tool in records.tools.values():
        essential = tool.record.essential
        for number, word in enumerate(essential.with_tools if isinstance(essential, EssentialFor) else ()):
            place = tool.place("essential", "with_tools", number)
            yield Reference(place, "tool", tool.id, "is essential together with", word)
    for qualification in records.qualifications.values():
        for number, word in enumerate(qualification.record.unlocks):
            place = qualification.place("unlocks", number)
            yield Reference(place, "qualification", qualification.id, "unlocks", word)
    for name, separation in records.organization.separations.items():
        for number, word in enumerate(separation.tools):
            place = records.document.place("separations", name, "tools", number)
            yield Reference(place, "separation", name, "keeps apart", word)


RULE = Rule("ORG303", "unknown-tool", Severity.ERROR, RuleTarget.CATALOG, check)
