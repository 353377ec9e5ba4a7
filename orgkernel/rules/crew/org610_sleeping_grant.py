"""A grant is suspended ("asleep"), or will be, because no document declares its subject.

## What it checks

Every grant in the store that is given to a role, an agent, a person, a system origin or a webhook names one that its
organization declares. Once orgkernel notices that the subject of a grant is missing, the grant is asleep: it grants
nothing, even if the subject is declared again. The rule runs only with a store: in `orgkernel check --store`, in
`orgkernel agent list`, and in the diagnostics of a registry that has one.

## Why it matters

A role that is removed and later declared again under the same name is another role. It must not inherit the grants of
the former one.

## Example

The store has a grant to `role:scout`, and this is the organization:

```yaml
org_id: demo
hierarchy: {co: {}}
```

## Instead

```yaml
org_id: demo
hierarchy: {co: {}, scout: {reports_to: co}}
```

Then run `orgkernel grant wake GRANT` for each grant that the new role is meant to have, and `orgkernel grant revoke GRANT`
for the others.

## Known limits

A missing subject is noticed by `orgkernel serve` at every load, and by every command that changes the store and reads
the documents. If a role is removed and declared again between two such checks, its grants stay active. Nothing is
reported while a document of the organization cannot be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant, StateView
from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(views: Sequence[OrgView], states: Mapping[str, StateView]) -> Iterator[Finding]:
    """Find grants that are asleep, and grants to undeclared subjects. A grant for all organizations is reported once."""
    from orgkernel.decisions.access.vanished import find_vanished  # few checks compare with a store

    grant_ids: set[str] = set()
    for view in views:
        state = states[view.org_id]
        asleep, awake = (
            [
                grant
                for _, stored in sorted(by_subject.items())
                for grant in stored
                if grant.org_id in (view.org_id, ALL_ORGANIZATIONS) and grant.grant_id not in grant_ids
            ]
            for by_subject in (state.asleep, state.grants)
        )
        grant_ids.update(grant.grant_id for grant in (*asleep, *awake))
        yield from (_report_suspended(view, grant) for grant in asleep)
        yield from (_report_missing(view, grant) for grant in find_vanished(views, awake))


def _report_suspended(view: OrgView, grant: Grant) -> Finding:
    wake = f"orgkernel grant wake {grant.grant_id}"
    if grant.org_id == ALL_ORGANIZATIONS:
        wake += f" --org {view.org_id}"
    return Finding(
        _place(view, grant),
        f"grant {quote(grant.grant_id)} to {quote(grant.subject)} is asleep",
        f"use `{wake}` to keep it, or `orgkernel grant revoke {grant.grant_id}`",
        grant.subject,
    )


def _report_missing(view: OrgView, grant: Grant) -> Finding:
    kind, _, name = grant.subject.partition(":")
    known = {"role": view.roles, "agent": view.records.agents, "person": view.records.people}.get(kind, ())
    meant = did_you_mean(name, known)
    return Finding(
        _place(view, grant),
        f"grant {quote(grant.grant_id)} is given to {quote(grant.subject)}, which no document declares",
        meant or f"declare it, or run `orgkernel grant revoke {grant.grant_id}`",
        grant.subject,
    )


def _place(view: OrgView, grant: Grant) -> Place:
    """The place where the subject or others of its kind are declared. Otherwise, the place where the organization
    lists its members.
    """
    records = view.records
    kind, _, name = grant.subject.partition(":")
    known: Mapping[str, Mapping[str, Definition[Any]]] = {
        "agent": records.agents, "person": records.people, "system": records.system_origins, "webhook": records.webhooks
    }  # fmt: skip
    declared = known.get(kind, {})
    if name in declared:
        return declared[name].place()
    for other in declared.values():
        return other.document.place(other.section, key=True)
    return records.document.place("hierarchy", key=True)


RULE = Rule("ORG610", "sleeping-grant", Severity.WARNING, RuleTarget.STATE, check)
