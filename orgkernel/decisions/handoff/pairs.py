"""Facts from documents about a sender and a receiver, computed once for each pair."""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.access.identity import SubjectIdentity
from orgkernel.decisions.handoff.edges import (
    FoundEdge,
    do_edges_forbid,
    find_edge,
    find_next_hop,
    get_layer,
    has_edges,
)
from orgkernel.decisions.handoff.failures import Failure
from orgkernel.decisions.handoff.parties import find_parties
from orgkernel.decisions.handoff.permission import HandoffFinding, HandoffRouting
from orgkernel.decisions.reasons import Reason, Why, cite_place
from orgkernel.decisions.refusals import say_worker
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.governance import read_governance
from orgkernel.graph.memo import per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords


class HandoffPair:
    """A sender and a receiver, with the facts from documents."""

    __slots__ = (
        "edge_match",
        "failures",
        "file_scopes",
        "holder_names",
        "needs",
        "profiles",
        "read_only_layers",
        "reason",
        "receiver",
        "routings",
        "sender",
        "works_by_brief",
    )  # fmt: skip

    def __init__(self, view: OrgView, sender: SubjectIdentity, receiver: str) -> None:
        records = view.records
        self.sender = sender
        self.receiver = receiver
        edges = (find_edge(records, role_id, receiver) for role_id in sender.roles)
        self.edge_match: FoundEdge | None = next((each for each in edges if each is not None), None)
        """The declared edge from a role of the sender to the receiver."""
        self.read_only_layers = tuple(_read_only_layers(records, sender))
        """The sender's read-only layers, with their lines."""
        failures = (
            *_find_edge_failures(records, sender, receiver, self.edge_match),
            *_find_position_failures(records, sender),
            *_find_missing_delegation_right(records, sender, self.edge_match),
            # A declared edge out of a read-only layer is deliberate: planners hand down work that they could not do themselves.
            *(() if self.edge_match is not None else _find_readers_without_edge(self.read_only_layers)),
        )
        self.failures = tuple(map(Failure.from_finding, failures))
        posts = [records.posts[role_id].profile for role_id in sender.roles]
        self.profiles = posts[0] if posts else None, records.posts[receiver].profile
        """The profiles of the sender and of the receiver."""
        self.reason = _explain_edge(records, self.edge_match)
        """The reason that the edges give."""
        self.needs = (
            ()
            if self.edge_match is None
            else (
                *(need for need in self.edge_match.edge.requires if need != "right_to_delegate"),
                *(f"gate:{gate}" for gate in self.edge_match.edge.gates),
            )
        )
        """The requirements of the edge for a brief."""
        self.works_by_brief = _does_work_by_brief(records, sender)
        self.file_scopes = tuple(_list_file_scopes(records, sender))
        self.holder_names = list_holder_names(sender)
        self.routings: dict[str | None, HandoffRouting] = {}
        """Cached routings, by principal."""


@per_view_and_key(4096)
def _find_pairs(
    view: OrgView, words: tuple[str, str]
) -> tuple[tuple[HandoffPair, ...], tuple[HandoffFinding, ...]]:
    senders, receivers, problems = find_parties(view, *words)
    return tuple(HandoffPair(view, each, role_id) for each in senders for role_id in receivers), problems


def find_pairs(
    view: OrgView, sender: str, receiver: str
) -> tuple[tuple[HandoffPair, ...], tuple[HandoffFinding, ...]]:
    """Each pair of a sender and a receiver that two words name, and the problems with the words."""
    return _find_pairs(view, (sender, receiver))


def list_holder_names(sender: SubjectIdentity) -> frozenset[str]:
    """The names by which a claim can refer to a subject: the subject itself and its roles."""
    return frozenset((sender.subject, *sender.keys))


def _explain_edge(records: OrgRecords, edge_match: FoundEdge | None) -> Reason | None:
    if edge_match is not None:
        return Reason("DISPATCH_EDGE", edge_match.why.text, (edge_match.why,))
    if has_edges(records):
        return None
    text = "the organization declares no hand-off edges, so its chain of command and declared rights decide"
    return Reason("NO_DISPATCH_EDGES", text)


def _read_only_layers(records: OrgRecords, sender: SubjectIdentity) -> Iterator[tuple[str, Why]]:
    """The sender's read-only layers. They can hand down work along their edges, but no changes."""
    governance = read_governance(records.governance)
    if governance is None:
        return
    for role_id in sender.roles:
        layer = get_layer(records, role_id)
        if layer is not None and layer in governance.layers and governance.layers[layer].read_only:
            place = records.get_declaring_document("layers").place("layers", layer, "read_only", key=True)
            yield layer, cite_place(f"layer {layer} is read-only", place)


def _find_readers_without_edge(readers: tuple[tuple[str, Why], ...]) -> Iterator[HandoffFinding]:
    for layer, why in readers:
        text = f"layer {quote(layer)} is read-only"
        yield HandoffFinding("right to delegate", "GOVERNANCE_READ_ONLY", text, (why,))


def _find_edge_failures(
    records: OrgRecords, sender: SubjectIdentity, receiver: str, edge_match: FoundEdge | None
) -> Iterator[HandoffFinding]:
    """The failure if no edge leads from a layer of the sender to the receiver's. People and systems are not in layers."""
    if edge_match is not None or not sender.roles:
        return
    # One role with an edge to the receiver is enough, as for every other right of a subject with several roles.
    if not all(do_edges_forbid(records, role_id, receiver) for role_id in sender.roles):
        return
    theirs = " or ".join(dict.fromkeys(_describe_layer(records, role_id) for role_id in sender.roles))
    text = f"no hand-off edge leads from {theirs} to {_describe_layer(records, receiver)}"
    hops = [hop for role_id in sender.roles for hop in find_next_hop(records, role_id, receiver)]
    remedies = tuple(f"hand the work to role {quote(hop)}, which can pass it on" for hop in hops)
    why = (cite_place("dispatch_edges", records.edges_place),)
    yield HandoffFinding("edge", "DISPATCH_EDGE_FORBIDDEN", text, why, remedies)


def _name_sender(sender: SubjectIdentity) -> str:
    return f"{sender.kind} {quote(sender.id)}"


def _describe_layer(records: OrgRecords, role_id: str) -> str:
    layer = get_layer(records, role_id)
    return f"role {quote(role_id)}, which is in no layer" if layer is None else f"layer {quote(layer)}"


def _find_position_failures(records: OrgRecords, sender: SubjectIdentity) -> Iterator[HandoffFinding]:
    """The failure if the sender is a worker. INVARIANT: nothing that is stored or stated lets a worker hand work down."""
    posts = [records.posts[role_id] for role_id in sender.roles]
    if posts and all(post.profile.position == "worker" for post in posts):
        text = say_worker(_name_sender(sender))
        why = tuple(cite_place(f"position of role {post.role_id}", post.place("position")) for post in posts)
        remedy = "the worker reports the remaining work to the role that handed the work down"
        yield HandoffFinding("right to delegate", "WORKER_CANNOT_DISPATCH", text, why, (remedy,))


def _find_missing_delegation_right(
    records: OrgRecords, sender: SubjectIdentity, edge_match: FoundEdge | None
) -> Iterator[HandoffFinding]:
    """The failure if the edge requires the right to delegate. A declared right over the receiver is not enough."""
    if edge_match is None or "right_to_delegate" not in edge_match.edge.requires:
        return
    if not any(records.posts[role_id].profile.can_delegate for role_id in sender.roles):
        text = f"the edge requires the right to delegate, which {_name_sender(sender)} does not have"
        yield HandoffFinding("right to delegate", "CANNOT_DELEGATE", text, (edge_match.why,))


def _list_file_scopes(
    records: OrgRecords, sender: SubjectIdentity
) -> Iterator[tuple[str, tuple[str, ...], tuple[Why, ...]]]:
    """The file scope of each role of the sender that declares one. A role without one can write anywhere."""
    posts = [records.posts[role_id] for role_id in sender.roles]
    # If one role can write anywhere, so can the subject, and the scopes of its other roles limit nothing.
    if posts and all(post.profile.file_scope for post in posts):
        whose = f"the file scope of {_name_sender(sender)}"
        globs = tuple(glob for post in posts for glob in post.profile.file_scope)
        yield (
            whose,
            globs,
            tuple(
                cite_place(f"file_scope of role {post.role_id}", post.place("file_scope")) for post in posts
            ),
        )


def _does_work_by_brief(records: OrgRecords, sender: SubjectIdentity) -> bool:
    """Whether an edge to the sender requires a brief, so the sender has one itself."""
    governance = read_governance(records.governance)
    layers = {get_layer(records, role_id) for role_id in sender.roles}
    edges = () if governance is None else governance.dispatch_edges
    return any(edge.target in layers and "brief" in edge.requires for edge in edges)
