"""Find differences between a store and the documents: the findings that need both (docs/documents.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.diagnostic import sort_diagnostics
from orgkernel.rules.catalog import select_rules
from orgkernel.rules.rule import RuleTarget
from orgkernel.snapshots.check import apply_severities, is_suppressed
from orgkernel.snapshots.snapshot import Snapshot


def find_drift(
    snapshot: Snapshot, read_view: Callable[[str], StateView], severities: Mapping[str, Severity | None]
) -> tuple[Diagnostic, ...]:
    """Findings of the rules about the state of each organization, sorted by place.

    Suppressed findings are left out.
    """
    states = {org_id: read_view(org_id) for org_id in snapshot.organizations}
    if not any(
        state.agents or state.grants or state.asleep or state.results or state.status or state.personalities
        for state in states.values()
    ):
        return ()
    views = [each.index for each in snapshot.organizations.values()]
    diagnostics = [each for rule in select_rules(RuleTarget.STATE) for each in rule.run(views, states)]
    diagnostics = [each for each in diagnostics if not is_suppressed(each, snapshot.tree)]
    return sort_diagnostics(apply_severities(diagnostics, severities))
