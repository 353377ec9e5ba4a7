"""What a policy changes: the answers of now, compared with the answers without it.

The answers come from the same lists as `what_can`, so they agree with the decisions. A policy that matches a subject and
changes no answer is without effect on it: another policy or layer decides the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain

import msgspec

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decide import ask
from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.listing import find_extremes, list_resources
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.documents.records import Effect, Policy
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition

_KINDS = ("tool", "credential", "data", "role")


class PolicyAnswer(msgspec.Struct, frozen=True):
    """An answer about an action on a resource, as lists give it."""

    outcome: Outcome = "deny"
    conditions: tuple[str, ...] = ()
    """What could change the outcome, each as `KEY:VALUE`."""
    at_best: Outcome = "deny"
    """The outcome in the most favorable circumstances."""
    at_worst: Outcome = "deny"
    """The outcome in the least favorable circumstances."""


class PolicyChange(msgspec.Struct, frozen=True):
    """The same change of answer, for some subjects."""

    subjects: tuple[str, ...]
    resource: str
    actions: tuple[str, ...]
    without: PolicyAnswer
    """The answer if the policy did not exist."""
    now: PolicyAnswer


class PolicySummary(msgspec.Struct, frozen=True):
    """A declared policy."""

    policy: str
    effect: Effect
    enabled: bool
    description: str
    why: Why
    """The lines that declare it."""


class PolicyExplanation(msgspec.Struct, frozen=True):
    """What a policy changes, for whom."""

    policy: PolicySummary
    subjects: tuple[str, ...]
    """The declared subjects that it matches, in some circumstances."""
    changes: tuple[PolicyChange, ...]
    unaffected: tuple[str, ...]
    """The matched subjects for which no answer depends on it now."""
    snapshot: str
    state_version: int


def list_policies(view: OrgView) -> tuple[PolicySummary, ...]:
    """The declared policies, by priority and name."""
    policies = sorted(view.records.policies.values(), key=lambda each: (-each.record.priority, each.id))
    return tuple(map(_summarize, policies))


def _summarize(definition: Definition[Policy]) -> PolicySummary:
    policy = definition.record
    why = cite_place(f"policy {definition.id}", definition.place())
    return PolicySummary(definition.id, policy.effect, policy.enabled, policy.description, why)


def explain_policy(
    view: OrgView, policy_id: str, context: AccessContext, state: StateView = EMPTY_STATE
) -> PolicyExplanation:
    """The subjects that a policy matches, and the answers that depend on it. Raises `KeyError` for an unknown policy."""
    summary = _summarize(view.records.policies[policy_id])
    tables = get_access_tables(view)
    without = tables.copy_without_policies(frozenset((policy_id,)))
    subjects = tuple(_list_matched(tables, policy_id))
    groups: dict[tuple[str, PolicyAnswer, PolicyAnswer, tuple[str, ...]], list[str]] = defaultdict(list)
    affected = set()
    for subject in subjects:
        request = AccessRequest(subject, "", "", context)
        before = _read_answers(without, request, state)
        after = _read_answers(tables, request, state)
        for resource, old, new, actions in _compare(before, after):
            groups[resource, old, new, actions].append(subject)
            affected.add(subject)
    return PolicyExplanation(
        summary,
        subjects,
        tuple(
            PolicyChange(tuple(names), resource, actions, old, new)
            for (resource, old, new, actions), names in groups.items()
        ),
        tuple(each for each in subjects if each not in affected),
        view.digest,
        state.version,
    )


def _list_matched(tables: AccessTables, policy_id: str) -> Iterator[str]:
    view = tables.view
    roles, agents = (f"role:{each}" for each in view.roles), (f"agent:{each}" for each in view.records.agents)
    for name in chain(roles, agents, *tables.outside.values()):
        subject = tables.find_subject(name)
        if subject is not None and any(policy.id == policy_id for policy in subject.policies):
            yield name


_Answers = Mapping[tuple[str, str], PolicyAnswer]
"""Answers by resource and action. What a list leaves out is denied."""


def _read_answers(tables: AccessTables, request: AccessRequest, state: StateView) -> _Answers:
    answers = {}
    for row in list_resources(tables, request, state, _KINDS):
        best = worst = row.outcome
        if row.conditions:
            # A list states no arguments, so a rule about some calls of a tool can hide what decides about the others.
            row_request = msgspec.structs.replace(request, action=row.actions[0], resource=row.resource)
            best, worst = find_extremes(ask(tables, row_request, state))
        answer = PolicyAnswer(row.outcome, row.conditions, best, worst)
        answers.update({(row.resource, action): answer for action in row.actions})
    return answers


def _compare(
    before: _Answers, after: _Answers
) -> Iterator[tuple[str, PolicyAnswer, PolicyAnswer, tuple[str, ...]]]:
    """The answers that differ, with the actions of a resource whose answers differ alike."""
    denied = PolicyAnswer()
    actions: dict[tuple[str, PolicyAnswer, PolicyAnswer], list[str]] = defaultdict(list)
    for resource, action in dict.fromkeys((*before, *after)):
        old, new = before.get((resource, action), denied), after.get((resource, action), denied)
        if old != new:
            actions[resource, old, new].append(action)
    for (resource, old, new), names in actions.items():
        yield resource, old, new, tuple(names)
