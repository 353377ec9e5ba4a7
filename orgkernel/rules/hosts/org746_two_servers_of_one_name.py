"""Two files declare different servers with the same name.

## What it checks

If several files of an organization declare an MCP server of one name, all of them have the same command, arguments and address. This
includes a server that an agent declares for itself under the name of a shared one.

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

Environment variables and headers are not compared, because they can be secret. Servers in the settings of a user are not read. Two
agents can declare different servers of one name for themselves, because a host keeps them apart.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.names import MCP
from orgkernel.loading.formats.servers import KIND, TARGETS
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.hosts.foreign_agents import get_written_words, iterate_agents, list_documents_of_kind
from orgkernel.rules.rule import Finding, Rule, RuleTarget

# The fields of agents with servers, as their hosts call them.
_FIELDS = ("mcpServers", "mcp-servers", "mcp_servers")


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
    for post in iterate_agents(view):
        for target in get_written_words(post).get(TARGETS, ()):
            tool, _, digest = target.partition(" ")
            shared, expected = first.get(tool, (None, ""))
            if shared is not None and digest and expected and digest != expected:
                name = quote(tool.removeprefix(MCP))
                yield Finding(
                    _find_place(post.document),
                    f"agent {quote(post.profile.name)} declares server {name} differently than {quote(shared.name)}",
                    "give one of them another name, or declare the same",
                    f"role:{post.role_id}",
                    (Related(shared.place("tools", tool), f"the shared server {name}"),),
                )


def _find_place(document: SourceDocument) -> Place:
    """The place of the field in which an agent declares servers."""
    keys = document.marks[1]
    return document.place(next((each for each in _FIELDS if each in keys), "name"), key=True)


RULE = Rule("ORG746", "two-servers-of-one-name", Severity.WARNING, RuleTarget.ORGANIZATION, check)
