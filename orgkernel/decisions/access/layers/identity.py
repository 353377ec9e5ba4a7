"""Identity: a subject that nothing declares is denied, and so is an agent that is not at work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, Move, ReasonCode, Sentence, Target
from orgkernel.decisions.reasons import Why, why_place
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.records import Definition

WORKING = ("active", "probationary")
_KINDS = ("role", "agent", "person", "system", "webhook", "sender")


def _compile(target: Target) -> Move | None:
    return {"undeclared": _deny_undeclared, "agent": _deny_inactive}.get(target.group)


def _deny_undeclared(evaluation: Evaluation) -> None:
    evaluation.failing |= UNKNOWN_PRINCIPAL.bit


def _deny_inactive(evaluation: Evaluation) -> None:
    stored = evaluation.state.agents.get(evaluation.subject.identity.id)
    if stored is not None and stored.lifecycle not in WORKING:
        evaluation.failing |= AGENT_INACTIVE.bit


def _unknown_principal(evaluation: Evaluation) -> Sentence:
    view, tables = evaluation.view, evaluation.tables
    asked = (evaluation.request.subject, *evaluation.parent_names())
    unknown = [each for each in asked if tables.subject(each) is None]
    hints = []
    for each in unknown:
        kind, _, name = each.partition(":")
        if kind not in _KINDS:
            hints.append(did_you_mean(kind, _KINDS) or f"kinds are {', '.join(map(quote, _KINDS))}")
            continue
        known = {"role": view.roles, "agent": view.records.agents, "person": view.records.people}.get(
            kind, ()
        )
        hints.append(did_you_mean(name, known))
    are = "is" if len(unknown) == 1 else "are"
    return "; ".join(filter(None, (f"{listing(unknown)} {are} not declared", *hints))), ()


def _agent_inactive(evaluation: Evaluation) -> Sentence:
    """Every agent of the run that is not at work: the subject, and whom it acts for."""
    request, found = evaluation.request, []
    for name in dict.fromkeys((request.subject, *evaluation.parent_names())):
        subject = evaluation.tables.subject(name)
        stored = None if subject is None else evaluation.state.agents.get(subject.identity.id)
        if (
            subject is not None
            and subject.is_agent
            and stored is not None
            and stored.lifecycle not in WORKING
        ):
            part = "" if name == request.subject else ", who is on the path of delegation,"
            part = ", on whose behalf this runs," if name == request.on_behalf_of else part
            found.append(f"agent {quote(subject.identity.id)}{part} is {stored.lifecycle}")
    return "; ".join(found), ()


def _declared(evaluation: Evaluation) -> Sentence:
    kind, _, name = evaluation.request.subject.partition(":")
    return f"{evaluation.who} is declared", why_declared(evaluation, kind, name)


def why_declared(evaluation: Evaluation, kind: str, name: str) -> tuple[Why, ...]:
    """The line that declares a subject or a resource."""
    records = evaluation.view.records
    if kind == "role" and name in records.posts:
        return (why_place(f"role {name} is declared", records.posts[name].place("role_id")),)
    known: dict[str, Mapping[str, Definition[Any]]] = {
        "tool": records.tools, "agent": records.agents, "person": records.people,
    }  # fmt: skip
    found = known.get(kind, {}).get(name)
    return () if found is None else (why_place(f"{kind} {name} is declared", found.place()),)


UNKNOWN_PRINCIPAL = ReasonCode("UNKNOWN_PRINCIPAL", _unknown_principal, "stopped")
AGENT_INACTIVE = ReasonCode("AGENT_INACTIVE", _agent_inactive, "stopped")
IDENTITY = AccessLayer(
    "identity", (UNKNOWN_PRINCIPAL, AGENT_INACTIVE), _compile, of_names=True, unchanged=_declared
)
