"""A tool is restricted to a role or agent that does not exist.

## What it checks

Every id in the `restricted_to` of a tool is a role of an organization that uses the catalog of the tool, or an
agent of a roster.

## Why it matters

Only the listed roles and agents may use the tool. If they do not exist, no one may use it.

## Example

```yaml
deploy: {type: remote_api, restricted_to: [devops_specialst]}
```

## Instead

```yaml
deploy: {type: remote_api, restricted_to: [devops_specialist]}
```

## Known limits

A role is not reported if it appears to be declared in a file that could not be read. Nothing is reported while an
organization could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.references import Reference, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.visibility import does_know_agent, does_know_role, find_unknown_to_all, list_ids


def check(assembly: Assembly) -> Iterator[Finding]:
    """Ids in `restricted_to` that are neither a role nor an agent."""

    def suggest_help(word: str) -> str:
        return did_you_mean(word, list_ids(assembly, lambda records: [*records.posts, *records.agents]))

    yield from report_undeclared(
        find_unknown_to_all(assembly, _iterate_references), "role or agent", suggest_help
    )


def _iterate_references(records: OrgRecords) -> Iterator[tuple[Reference, bool]]:
    for tool in records.tools.values():
        for number, word in enumerate(tool.record.restricted_to):
            known = does_know_role(records, word) or does_know_agent(records, word)
            place = tool.place("restricted_to", number)
            yield Reference(place, "tool", tool.id, "is restricted to", word), known


RULE = Rule("ORG407", "unknown-tool-user", Severity.ERROR, RuleTarget.TREE, check)
