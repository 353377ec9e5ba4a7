"""Two files declare different servers with the same name.

## What it checks

If several files of an organization declare an MCP server of one name, all of them have the same command, arguments and address.

## Why it matters

A host connects to one of them, and which one depends on the folder in which it runs. A tool that was approved for one server then
runs on the other. In orgkernel, both are one tool.

## Example

```json
{"mcpServers": {"tracker": {"command": "tracker-mcp"}}}
```

in `web/.mcp.json`, and another command in `mobile/.mcp.json`.

## Instead

```json
{"mcpServers": {"tracker-beta": {"command": "tracker-mcp", "args": ["--beta"]}}}
```

## Known limits

Environment variables and headers are not compared, because they can be secret. Servers in the settings of a user are not read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.names import MCP
from orgkernel.loading.formats.servers import KIND, TARGETS
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.hosts.foreign_agents import list_documents_of_kind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find servers that another file declares differently, each once for each file."""
    first: dict[str, tuple[SourceDocument, str]] = {}
    for document, words in sorted(list_documents_of_kind(view, KIND), key=lambda each: each[0].name):
        for target in words.get(TARGETS, ()):
            tool, _, digest = target.partition(" ")
            other, expected = first.setdefault(tool, (document, digest))
            if other is not document and digest and expected and digest != expected:
                name = quote(tool.removeprefix(MCP))
                yield Finding(
                    document.place("tools", tool),
                    f"server {name} is declared differently in {quote(other.name)}",
                    "give one of them another name, or declare the same",
                    f"tool:{tool}",
                    (Related(other.place("tools", tool), f"the other server {name}"),),
                )


RULE = Rule("ORG746", "two-servers-of-one-name", Severity.WARNING, RuleTarget.ORGANIZATION, check)
