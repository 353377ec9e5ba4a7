"""A decision case names something that is not declared.

## What it checks

Every name in a case of `decision_cases` is declared: the organization, and in it the roles, agents, people, system origins,
webhooks, senders, tools, actions, credentials, data tiers, domains, intents, plans, ranks, qualifications, alerts and
watches, in the question, in the assumed state and in the expected answer. Expected reason codes exist. A case about an undeclared name says `undeclared: true`.

## Why it matters

An undeclared name is denied and takes no work. So a case that expects a denial passes when its name is misspelled, and
tests nothing.

## Example

```yaml
cases:
  - name: writers cannot publish
    org: press
    access:
      - ask: {subject: "role:writr", action: use, resource: "tool:publish"}
        outcome: deny
```

## Instead

```yaml
cases:
  - name: writers cannot publish
    org: press
    access:
      - ask: {subject: "role:writer", action: use, resource: "tool:publish"}
        outcome: deny
```

## Known limits

Organizations are looked up among those that are checked together with the case. If none is checked, or if one cannot be
read, nothing is reported about an unknown organization. Names of channels, accounts, guilds and events are not checked,
because no document declares them. `undeclared: true` applies to all names of its case. `orgkernel test` fails for such a name
even if the rule is switched off or suppressed.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from orgkernel.diagnostics import Severity
from orgkernel.documents.records import DecisionCases
from orgkernel.graph.assemble import Assembly
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(assembly: Assembly) -> Iterator[Finding]:
    """Report names in cases that their organizations do not declare."""
    if not assembly.cases:
        return
    # Few trees have cases, and the module needs more than most rules do.
    from orgkernel.rules.hygiene.case_names import (
        DeclaredNames,
        build_unknown_organization,
        find_undeclared_names,
        list_given_names,
        list_question_names,
    )

    declared = {records.org_id: DeclaredNames(records) for records in assembly.organizations}
    for document in assembly.cases:
        record = document.record
        assert isinstance(record, DecisionCases)
        for number, case in enumerate(record.cases):
            if case.org not in declared:
                if assembly.strays_are_known:
                    yield build_unknown_organization(document, number, case, declared)
            elif not case.undeclared:
                names = chain(list_given_names(case.given), *list_question_names(case))
                yield from find_undeclared_names(document, number, case, names, declared[case.org])


RULE = Rule("ORG708", "undeclared-case-name", Severity.ERROR, RuleTarget.TREE, check)
