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

import re
from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean_tool, quote
from orgkernel.documents.records import EssentialFor
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.references import Reference, find_undeclared, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.lazy_patterns import lazy_pattern

_WORD_BREAK = lazy_pattern(r"[_\-.\s]+")
_MIN_WORD_LENGTH = 4
"""Letters of a word that is looked for in descriptions."""


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared ids that are used as tools."""
    tools = view.records.tools
    if "tool_catalog" in view.records.incomplete:
        return
    unknown = find_undeclared(
        view, EdgeKind.EQUIPPED_WITH, EdgeKind.NEEDS, EdgeKind.FALLS_BACK_TO, EdgeKind.COVERS,
        EdgeKind.MAY_GRANT, EdgeKind.CALLS,
        known=tools, also=_iterate_entry_references(view.records),
    )  # fmt: skip
    yield from report_undeclared(unknown, "tool", lambda word: _suggest_tool(word, view))


def _suggest_tool(word: str, view: OrgView) -> str:
    """Help for a tool that is not declared: the tool of that name, of a similar id, with such an action, or about that word."""
    tools = view.records.tools
    wanted = _WORD_BREAK.sub(" ", word).casefold().strip()
    for tool_id, tool in tools.items():
        if tool.record.name.casefold() == wanted:
            return f"did you mean {quote(tool_id)}, which is called {quote(tool.record.name)}?"
    help = did_you_mean_tool(word, {tool_id: tool.record.names.values() for tool_id, tool in tools.items()})
    if help:
        return help
    for tool_id, tool in tools.items():
        if wanted in tool.record.actions:
            return f"did you mean {quote(tool_id)}, which has the action {quote(wanted)}?"
    about = re.compile(rf"\b{re.escape(wanted)}s?\b", re.IGNORECASE)
    for tool_id, tool in tools.items():
        if len(wanted) >= _MIN_WORD_LENGTH and about.search(tool.record.description):
            return f"did you mean {quote(tool_id)}, described as {quote(tool.record.description)}?"
    return ""


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
