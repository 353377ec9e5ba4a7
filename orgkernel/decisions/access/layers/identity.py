"""Identity: an undeclared subject is denied, and so is an agent that is not at work.

An active agent is at work. So is an agent on probation if every role that it fills allows probation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from orgkernel.decisions.access.decision import RemedyChange
from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.evidence.state_view import Lifecycle, StateView
from orgkernel.decisions.reasons import Why, cite_place, explain_out_of_service
from orgkernel.diagnostics.wording import did_you_mean, listing, quote, suggest
from orgkernel.graph.out_of_service import find_out_of_service
from orgkernel.graph.records import Definition
from orgkernel.graph.spoken_names import suggest_near_role

RESUMED_AS: Mapping[Lifecycle, Lifecycle] = {"suspended": "active", "registered": "probationary"}
"""The lifecycles from which an agent can be put back to work, with the resulting lifecycle."""
_KINDS = ("role", "agent", "person", "system", "webhook", "sender")


def _compile(target: Target) -> LayerStep | None:
    return {"undeclared": _deny_undeclared, "agent": _deny_inactive}.get(target.group)


def _deny_undeclared(evaluation: Evaluation) -> None:
    evaluation.failing |= UNKNOWN_PRINCIPAL.bit


def _deny_inactive(evaluation: Evaluation) -> None:
    if not is_at_work(evaluation.subject, evaluation.state):
        evaluation.failing |= AGENT_INACTIVE.bit


def is_at_work(subject: Subject, state: StateView) -> bool:
    """Whether a subject is not an agent, or is active, or is on probation in roles that all allow it."""
    stored = state.agents.get(subject.identity.id) if subject.is_agent else None
    if stored is None or stored.lifecycle == "active":
        return True
    return stored.lifecycle == "probationary" and subject.open_to_probation


def _explain_unknown_principal(evaluation: Evaluation) -> Sentence:
    tables = evaluation.tables
    names = (evaluation.request.subject, *evaluation.list_principals())
    unknown = [each for each in names if tables.find_subject(each) is None]
    hints = []
    for each in unknown:
        if (out := explain_out_of_service(evaluation.view.records, each)) is not None:
            return out
        kind, _, name = each.partition(":")
        if kind not in _KINDS:
            hints.append(did_you_mean(kind, _KINDS) or f"kinds are {', '.join(map(quote, _KINDS))}")
            continue
        hints.append(
            suggest_near_role(evaluation.view, name)
            if kind == "role"
            else did_you_mean(name, _list_known_names(evaluation, kind))
        )
    are = "is" if len(unknown) == 1 else "are"
    return "; ".join(filter(None, (f"{listing(unknown)} {are} not declared", *hints))), ()


def is_misspelled(evaluation: Evaluation) -> bool:
    """Whether the subject is undeclared and its name or kind is similar to a declared one."""
    records, subject = evaluation.view.records, evaluation.request.subject
    if evaluation.tables.find_subject(subject) is not None or find_out_of_service(records, subject):
        return False
    kind, _, name = subject.partition(":")
    similar = suggest(name, _list_known_names(evaluation, kind)) if kind in _KINDS else suggest(kind, _KINDS)
    return similar is not None


def _list_known_names(evaluation: Evaluation, kind: str) -> Collection[str]:
    view = evaluation.view
    return {"role": view.roles, "agent": view.records.agents, "person": view.records.people}.get(kind, ())


def _explain_agent_inactive(evaluation: Evaluation) -> Sentence:
    """Explain every agent of the run that is not at work: the subject and its principals."""
    request, texts = evaluation.request, []
    why: list[Why] = []
    for name in dict.fromkeys((request.subject, *evaluation.list_principals())):
        subject = evaluation.tables.find_subject(name)
        if subject is None or is_at_work(subject, evaluation.state):
            continue
        part = "" if name == request.subject else ", who is on the path of delegation,"
        part = ", on whose behalf this runs," if name == request.on_behalf_of else part
        lifecycle = evaluation.state.agents[subject.identity.id].lifecycle
        status: str = lifecycle
        if lifecycle == "probationary":
            status, lines = _explain_probation(evaluation, subject)
            why += lines
        texts.append(f"agent {quote(subject.identity.id)}{part} is {status}")
    return "; ".join(texts), tuple(dict.fromkeys(why))


def _explain_probation(evaluation: Evaluation, subject: Subject) -> Sentence:
    """Name the roles that are not open to an agent on probation."""
    posts = [evaluation.view.records.posts[role_id] for role_id in subject.identity.roles]
    closed = [post for post in posts if not post.profile.open_to_probation]
    if not closed:
        return "on probation and fills no role", ()
    roles = f"role{'s' * (len(closed) != 1)} {listing(post.role_id for post in closed)}"
    are = "is" if len(closed) == 1 else "are"
    why = (
        cite_place(f"role {post.role_id} is not open to probation", post.place("role_id")) for post in closed
    )
    return f"on probation, and {roles} {are} not open to probation", tuple(why)


def _explain_declared(evaluation: Evaluation) -> Sentence:
    kind, _, name = evaluation.request.subject.partition(":")
    return f"{evaluation.who} is declared", locate_declaration(evaluation, kind, name)


def locate_declaration(evaluation: Evaluation, kind: str, name: str) -> tuple[Why, ...]:
    """The line that declares a subject or a resource; empty if none does."""
    records = evaluation.view.records
    if kind == "role" and name in records.posts:
        return (cite_place(f"role {name} is declared", records.posts[name].place("role_id")),)
    known: dict[str, Mapping[str, Definition[Any]]] = {
        "tool": records.tools, "agent": records.agents, "person": records.people,
        "system": records.system_origins, "webhook": records.webhooks,
    }  # fmt: skip
    definition = known.get(kind, {}).get(name)
    return () if definition is None else (cite_place(f"{kind} {name} is declared", definition.place()),)


UNKNOWN_PRINCIPAL = ReasonCode("UNKNOWN_PRINCIPAL", _explain_unknown_principal, "stopped")


def _propose_resumption(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Propose putting every inactive agent of the run back to work, if its lifecycle allows that in one step."""
    for name in dict.fromkeys((evaluation.request.subject, *evaluation.list_principals())):
        kind, _, agent_id = name.partition(":")
        stored = evaluation.state.agents.get(agent_id) if kind == "agent" else None
        if stored is not None and stored.lifecycle in RESUMED_AS:
            yield RemedyChange("resume", agent_id, subject=name)


AGENT_INACTIVE = ReasonCode("AGENT_INACTIVE", _explain_agent_inactive, "stopped", remedies=("resume", "role"))
IDENTITY = AccessLayer(
    "identity",
    (UNKNOWN_PRINCIPAL, AGENT_INACTIVE),
    _compile,
    applies_to_undeclared=True,
    unchanged=_explain_declared,
    changes={"resume": _propose_resumption},
)
