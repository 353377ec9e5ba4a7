"""A tool is limited to a department that no organization has.

## What it checks

Every department in the `departments` of a tool is declared by an organization that uses the catalog of the tool.

## Why it matters

Only members of these departments see the tool. A department that does not exist has no members, so the tool is hidden from
the roles it was meant for.

## Example

```yaml
deploy: {type: remote_api, departments: [enginering]}
```

## Instead

```yaml
deploy: {type: remote_api, departments: [engineering]}
```

## Known limits

If an organization declares no departments, the departments named by its profiles are used. Nothing is reported while
an organization could not be read.

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
from orgkernel.rules.visibility import find_unknown_to_all, list_ids


def check(assembly: Assembly) -> Iterator[Finding]:
    """Find departments that tools name and no organization has."""
    yield from report_undeclared(
        find_unknown_to_all(assembly, _iterate_references),
        "department",
        lambda word: did_you_mean(word, list_ids(assembly, _list_departments)),
    )


def _iterate_references(records: OrgRecords) -> Iterator[tuple[Reference, bool]]:
    for tool in records.tools.values():
        for number, word in enumerate(tool.record.departments):
            place = tool.place("departments", number)
            known = word in _list_departments(records) or bool(records.excused or records.without_profile)
            yield Reference(place, "tool", tool.id, "is limited to", word), known


def _list_departments(records: OrgRecords) -> tuple[str, ...]:
    declared = records.organization.departments
    if declared:
        return tuple(declared)
    used = (post.profile.department for post in records.posts.values())
    return tuple(dict.fromkeys(each for each in used if each is not None))


RULE = Rule("ORG406", "unknown-tool-department", Severity.ERROR, RuleTarget.TREE, check)
