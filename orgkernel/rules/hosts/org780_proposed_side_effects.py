"""An MCP server reports side effects of its tools that no tool catalog confirms.

## What it checks

A saved answer to `tools/list` has no annotations (`readOnlyHint`, `destructiveHint`) that report weaker side effects
than orgkernel assumes.

## Why it matters

Annotations are a server's statements about itself, so they never grant anything. The tool is treated as destructive,
and a role probably needs a higher level for it than necessary. Someone who knows the server can decide.

## Example

```json
{"tools": [{"name": "list_issues", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}]}
```

## Instead

```json
{"tools": [{"name": "list_issues", "inputSchema": {"type": "object"}}]}
```

## Known limits

The finding is only informational, once for each server, at its first such tool. Declare the side effects of the tools
in your own tool catalog, or suppress the finding if the caution is intended.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.listed_tools import map_proposed_side_effects
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find proposed side effects, grouped by server."""
    by_server: dict[str, dict[str, list[str]]] = {}
    effects_by_document: dict[SourceDocument, Mapping[str, str]] = {}
    for tool_id, tool in view.records.tools.items():
        # A tool catalog of the organization has no format. Its side effects are declared by its author, not by a server.
        if tool.document.format:
            if tool.document not in effects_by_document:
                effects_by_document[tool.document] = map_proposed_side_effects(tool.document)
            side_effects = effects_by_document[tool.document].get(tool_id, tool.record.side_effects)
            if side_effects != tool.record.side_effects:
                by_server.setdefault(tool.record.provider, {}).setdefault(side_effects, []).append(tool_id)
    for server, by_effect in by_server.items():
        first = next(iter(by_effect.values()))[0]
        clause = " and ".join(f"{effect} ({listing(tools)})" for effect, tools in by_effect.items())
        yield Finding(
            view.records.tools[first].place(),
            f"server {quote(server)} reports side effects of some of its tools: {clause}",
            "declare them in a tool catalog if you know that they are true; until then the tools are treated as destructive",
            f"tool:{first}",
        )


RULE = Rule("ORG780", "proposed-side-effects", Severity.INFO, RuleTarget.ORGANIZATION, check)
