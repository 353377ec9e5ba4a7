"""Count the other requests that the changes of a remedy would allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.decisions.access.candidates import find_candidate_resources
from orgkernel.decisions.access.decision import RemedyChange
from orgkernel.decisions.access.evaluation import Assumptions, Evaluation, evaluate
from orgkernel.decisions.access.identity import add_role
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.subject import Subject

_MAX_QUESTIONS = 20_000
"""The highest number of answers that are compared."""


def count_opened(evaluation: Evaluation, trial: Evaluation, changes: tuple[RemedyChange, ...]) -> str:
    """The other requests that changes would allow, in words; empty if there are none. `trial` is the evaluation with
    the changes made.

    Compared are tools, credentials and data, in the circumstances of the request and outside of a run.
    """
    own_question = (evaluation.subject.subject, evaluation.request.resource, evaluation.action)
    answers, subjects, questions = 0, 0, 0
    affected = tuple(dict.fromkeys(_find_affected_subjects(evaluation, changes)))
    for name in affected:
        before, after = evaluation.tables.find_subject(name), trial.tables.find_subject(name)
        if before is None or after is None:
            continue
        if questions > _MAX_QUESTIONS:
            return f"would also allow more than {answers} other requests by more than {subjects} subjects"
        after = _widen_subject(evaluation, after, changes)
        had, has = (
            _compute_allowed_pairs(evaluation, evaluation, before),
            _compute_allowed_pairs(evaluation, trial, after),
        )
        questions += len(has)
        more = len({(name, *each) for each in has - had} - {own_question})
        answers, subjects = answers + more, subjects + bool(more)
    if not answers:
        return ""
    others = f"would also allow {answers} other request{'s' * (answers > 1)}"
    alone = subjects == 1 and affected == (evaluation.subject.subject,)
    return others if alone else f"{others} by {subjects} subject{'s' * (subjects > 1)}"


def _find_affected_subjects(evaluation: Evaluation, changes: Iterable[RemedyChange]) -> Iterator[str]:
    """All subjects for which changes could allow something."""
    view, tables = evaluation.view, evaluation.tables
    crew = (*(f"role:{role}" for role in view.roles), *(f"agent:{agent}" for agent in view.records.agents))
    everybody = (*crew, *(each for kind in tables.outside.values() for each in kind))
    for change in changes:
        about_many = change.kind in ("grant", "lift", "equip", "rank")
        if change.kind in ("policy_removed", "enable") or (
            about_many and not change.subject.startswith("agent:")
        ):
            for name in everybody:
                subject = tables.find_subject(name)
                if subject is not None and _is_about(change, subject):
                    yield name
        elif change.subject:
            yield change.subject


def _is_about(change: RemedyChange, subject: Subject) -> bool:
    if change.kind == "enable":
        return True
    if change.kind == "policy_removed":
        return any(policy.id == change.value for policy in subject.policies)
    return change.subject in subject.keys


def _widen_subject(evaluation: Evaluation, subject: Subject, changes: Iterable[RemedyChange]) -> Subject:
    """A subject with the changes of roles applied."""
    view, tables = evaluation.view, evaluation.tables
    for change in changes:
        if change.kind == "role" and change.subject == subject.subject:
            identity = add_role(view, subject.identity, change.value)
            subject = Subject(view, tables.policies, identity, tables.tool_resources)
        if change.kind == "equip" and change.subject in subject.keys:
            subject = subject.equip_with(evaluation.resource, evaluation.required, "", 0)
    return subject


def _compute_allowed_pairs(
    evaluation: Evaluation, there: Evaluation, subject: Subject
) -> set[tuple[str, str]]:
    """The pairs of action and resource that a subject may use with the tables and state of an evaluation."""
    permissions: set[tuple[str, str]] = set()
    request = AccessRequest(subject.subject, "", "", evaluation.request.context)
    for written in find_candidate_resources(
        there.tables, there.state, subject, ("tool", "credential", "data")
    ):
        resource, named = there.tables.find(written)
        path = there.tables.read_paths(resource, named, None)
        for group in resource.action_groups:
            assumed = there.assumed
            if assumed is not None and subject.subject != there.subject.subject:
                assumed = Assumptions(is_enabled=assumed.is_enabled)
            if assumed is not None and resource.id != there.resource.id:
                assumed = assumed._replace(is_enabled=False)
            again = Evaluation(there.tables, there.state, request, group[0], subject, resource, path, assumed)
            again.treats_unstated_as_unmet = True
            if evaluate(again).outcome == "allow":
                permissions.update((written, action) for action in group)
    return permissions
