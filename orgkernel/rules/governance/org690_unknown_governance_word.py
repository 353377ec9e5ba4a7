"""A governance document names a gate, a layer or a destructive operation that is not declared.

## What it checks

Gates under `gates` of an edge and under `unlocked_with_gate` are declared under `quality_gates`. Operations under
`destructive_operations` are in the catalog (`docs/destructive-commands.md`). Layers under `lmc_modes` are declared.

## Why it matters

A brief can name only declared gates, so no brief can use an edge, or unlock a sacred scope, that requires an
undeclared gate. An unknown
operation authorizes nothing, and a mode for an unknown layer has no effect.

## Example

```yaml
destructive_operations: [delete_dir]
```

## Instead

```yaml
destructive_operations: [delete_directory]
```

## Known limits

None.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.records import Governance
from orgkernel.graph.governance import read_governance
from orgkernel.graph.questions import OrgView
from orgkernel.loading.marks import RouteStep
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.shell.verdict import CATALOG


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared gates, layers and operations."""
    governance, document = read_governance(view.records.governance), view.records.governance
    if governance is None or document is None:
        return
    for word, route in _iterate_gates(governance):
        if word not in governance.quality_gates:
            help = did_you_mean(word, governance.quality_gates) or "declare it under `quality_gates`"
            message = f"gate {quote(word)} is not declared"
            yield Finding(document.place(*route), message, help, f"organization:{view.org_id}")
    layers = view.records.organization.layers
    for layer in governance.lmc_modes:
        if layer not in layers:
            help = did_you_mean(layer, layers) or "declare it under `layers`"
            place = document.place("lmc_modes", layer, key=True)
            yield Finding(place, f"layer {quote(layer)} is not declared", help, f"organization:{view.org_id}")
    for number, operation in enumerate(governance.destructive_operations or ()):
        if operation not in CATALOG:
            help = did_you_mean(operation, CATALOG) or "use an id of the catalog"
            place = document.place("destructive_operations", number)
            message = f"destructive operation {quote(operation)} is not in the catalog"
            yield Finding(place, message, help, f"organization:{view.org_id}")


def _iterate_gates(governance: Governance) -> Iterator[tuple[str, tuple[RouteStep, ...]]]:
    """All named gates, with their routes."""
    for number, edge in enumerate(governance.dispatch_edges):
        for place, gate in enumerate(edge.gates):
            yield gate, ("dispatch_edges", number, "gates", place)
    for scope_id, scope in governance.sacred_scopes.items():
        if scope.unlocked_with_gate is not None:
            yield scope.unlocked_with_gate, ("sacred_scopes", scope_id, "unlocked_with_gate")


RULE = Rule("ORG690", "unknown-governance-word", Severity.ERROR, RuleTarget.ORGANIZATION, check)
