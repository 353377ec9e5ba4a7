"""Replace an organization's own layers, edges and limits with those of a governance document, with their places."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from orgkernel.diagnostics import Place
from orgkernel.documents.records import Governance, HandoffEdge, Organization
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument

LIMITS = ("max_spawn_depth", "max_children", "max_concurrent")


class LayerEntry(NamedTuple):
    """The layer that a governance document assigns to a role, and its place."""

    layer: str
    document: SourceDocument
    route: tuple[RouteStep, ...]


def read_governance(document: SourceDocument | None) -> Governance | None:
    """The record of a governance document."""
    if document is None:
        return None
    assert isinstance(document.record, Governance)
    return document.record


def apply_governance(organization: Organization, document: SourceDocument | None) -> Organization:
    """The organization with the layers, edges and limits of a governance document."""
    governance = read_governance(document)
    if governance is None:
        return organization
    changes: dict[str, object] = {}
    if governance.layers:
        changes["layers"] = tuple(governance.layers)
    edges = [(edge.source, edge.target) for edge in governance.dispatch_edges]
    if edges or governance.layers:
        pairs = edges or pairwise(governance.layers)
        changes["dispatch_edges"] = tuple(HandoffEdge(source=one, target=other) for one, other in pairs)
    written = {name: getattr(governance.limits, name) for name in LIMITS}
    limits = {name: value for name, value in written.items() if value is not None}
    if limits:
        changes["limits"] = replace(organization.limits, **limits)
    return replace(organization, **changes) if changes else organization


def map_roles_to_layers(document: SourceDocument | None) -> Mapping[str, LayerEntry]:
    """The first layer of each role in a governance document."""
    governance = read_governance(document)
    entries_by_role: dict[str, LayerEntry] = {}
    if governance is not None and document is not None:
        for layer_id, layer in governance.layers.items():
            for number, role_id in enumerate(layer.roles):
                entry = LayerEntry(layer_id, document, ("layers", layer_id, "roles", number))
                entries_by_role.setdefault(role_id, entry)
    return entries_by_role


def get_declaring_document(
    organization: SourceDocument, governance: SourceDocument | None, section: str, *route: RouteStep
) -> SourceDocument:
    """The document whose `layers`, `dispatch_edges` or `limits` apply."""
    record = read_governance(governance)
    if record is None or governance is None:
        return organization
    if section == "limits":
        return governance if governance.has(section, *route) else organization
    if section == "dispatch_edges":
        return governance if record.dispatch_edges or record.layers else organization
    return governance if record.layers else organization


def locate_edges(organization: SourceDocument, governance: SourceDocument | None) -> Place:
    """The place of the hand-off edges that apply. If they follow from the order of layers, the place of the layers."""
    document = get_declaring_document(organization, governance, "dispatch_edges")
    section = "dispatch_edges" if document.has("dispatch_edges") else "layers"
    return document.place(section, key=True)
