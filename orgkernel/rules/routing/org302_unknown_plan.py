"""A role follows a plan that no catalog declares.

## What it checks

Every plan in a role's `htn_plans` is declared by a plan catalog that the organization sees.

## Why it matters

A runtime may run only the plans of the chosen role. A plan that does not exist is never found, so the role works without
the plan that its author intended.

## Example

```yaml
htn_plans:
  - codegen_modul
```

## Instead

```yaml
htn_plans:
  - codegen_module
```

## Known limits

An undeclared name in a profile has no effect for its role. The rest of the organization is served, and the finding
remains an error of that role.

Nothing is reported while a plan catalog could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.references import find_undeclared, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared ids that are used as plans."""
    plans = view.records.plans
    if "plan_catalog" in view.records.incomplete:
        return
    unknown = find_undeclared(view, EdgeKind.FOLLOWS, known=plans)
    yield from report_undeclared(unknown, "plan", lambda word: did_you_mean(word, plans))


RULE = Rule("ORG302", "unknown-plan", Severity.ERROR, RuleTarget.CATALOG, check)
