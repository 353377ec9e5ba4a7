"""Resolve the words for sender and receiver: a role, the roles of a layer, or a subject with its kind."""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.access.identity import SubjectIdentity, identify
from orgkernel.decisions.handoff.edges import get_layer, list_roles_of_layer
from orgkernel.decisions.handoff.permission import HandoffFinding
from orgkernel.decisions.reasons import cite_place, explain_out_of_service
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.memo import per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords

Parties = tuple[tuple[SubjectIdentity, ...], tuple[str, ...], tuple[HandoffFinding, ...]]


@per_view_and_key(4096)
def _find_parties(view: OrgView, words: tuple[str, str]) -> Parties:
    senders, unknown = _find_senders(view, words[0])
    receivers, missing = _find_named_roles(view.records, words[1])
    return tuple(senders), receivers, tuple(each for each in (unknown, missing) if each is not None)


def find_parties(view: OrgView, sender: str, receiver: str) -> Parties:
    """The subjects and the roles that two words name, and the problems with the words."""
    return _find_parties(view, (sender, receiver))


def _find_senders(view: OrgView, name: str) -> tuple[list[SubjectIdentity], HandoffFinding | None]:
    """The subjects that a word names: a role, the roles of a layer, or a subject with its kind."""
    kind, colon, _ = name.partition(":")
    if colon and kind not in ("role", "layer"):
        identity = identify(view, name)
        if identity is not None:
            return [identity], None
        out = explain_out_of_service(view.records, name) or (f"{quote(name)} is not declared", ())
        return [], HandoffFinding("names", "UNKNOWN_PRINCIPAL", *out)
    roles, problem = _find_named_roles(view.records, name)
    identities = (identify(view, f"role:{role_id}") for role_id in roles)
    return [each for each in identities if each is not None], problem


def _find_named_roles(records: OrgRecords, written: str) -> tuple[tuple[str, ...], HandoffFinding | None]:
    """The roles that a word names. If a role and a layer share the name, the role is used."""
    kind, colon, name = written.partition(":")
    if kind not in ("role", "layer"):
        name = written  # the message masks a secret only if it sees all of it
    layers = (*records.organization.layers, *dict.fromkeys(filter(None, _list_layers(records))))
    if (not colon or kind == "role") and name in records.posts:
        return (name,), None
    out = explain_out_of_service(records, f"role:{name}") if not colon or kind == "role" else None
    if out is not None:  # before the layers: without the role, its name must not begin to mean a layer
        return (), HandoffFinding("names", "ROLE_UNKNOWN", *out)
    if (not colon or kind == "layer") and name in layers:
        roles = list_roles_of_layer(records, name)
        if roles:
            return roles, None
        place = records.get_declaring_document("layers").place("layers", key=True)
        why = (cite_place("layers", place),) if name in records.organization.layers else ()
        return (), HandoffFinding("names", "LAYER_EMPTY", f"layer {quote(name)} has no role", why)
    code = "LAYER_UNKNOWN" if kind == "layer" and colon else "ROLE_UNKNOWN"
    what = "layer" if code == "LAYER_UNKNOWN" else "role or layer"
    hint = did_you_mean(name, (*records.posts, *layers))
    text = f"{what} {quote(name)} is not declared{f'; {hint}' if hint else ''}"
    return (), HandoffFinding("names", code, text)


def _list_layers(records: OrgRecords) -> Iterator[str | None]:
    return (get_layer(records, role_id) for role_id in records.posts)
