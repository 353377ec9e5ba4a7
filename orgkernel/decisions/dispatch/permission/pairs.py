"""What documents alone say about a sender and a receiver: worked out once for each pair."""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.access.identity import SubjectIdentity
from orgkernel.decisions.dispatch.permission.edges import (
    EdgeFound,
    edges_forbid,
    find_edge,
    has_edges,
    layer_of,
    next_hop,
)
from orgkernel.decisions.dispatch.permission.failures import Failure
from orgkernel.decisions.dispatch.permission.parties import find_parties
from orgkernel.decisions.dispatch.permission.permission import DispatchFinding, DispatchRouting
from orgkernel.decisions.reasons import Reason, Why, why_place
from orgkernel.decisions.refusals import say_worker
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.governance import read_governance
from orgkernel.graph.memo import per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords

FileScope = tuple[str, tuple[str, ...], tuple[Why, ...]]
"""Whose it is, its globs, and their lines."""


class DispatchPair:
    """A sender and a receiver, and what the documents say of them."""

    __slots__ = (
        "failures", "file_scopes", "found", "needs", "profiles", "readers", "reason", "receiver", "routings", "sender",
        "words", "works_by_brief",
    )  # fmt: skip

    def __init__(self, view: OrgView, sender: SubjectIdentity, receiver: str) -> None:
        records = view.records
        self.sender = sender
        self.receiver = receiver
        edges = (find_edge(records, role_id, receiver) for role_id in sender.roles)
        self.found: EdgeFound | None = next((each for each in edges if each is not None), None)
        self.readers = tuple(_read_only_layers(records, sender))
        """The read-only layers of the sender, with their lines."""
        failures = (
            *_edge_failures(records, sender, receiver, self.found),
            *_position_failures(records, sender),
            *_delegation_required(records, sender, self.found),
            *(() if self.found is not None else _reading_without_edge(self.readers)),
        )
        self.failures = tuple(map(Failure.of, failures))
        posts = [records.posts[role_id].profile for role_id in sender.roles]
        self.profiles = posts[0] if posts else None, records.posts[receiver].profile
        """Of the sender and of the receiver."""
        self.reason = _reason(records, self.found)
        """How edges stand to it."""
        found = self.found
        self.needs = (
            ()
            if found is None
            else (
                *(need for need in found.edge.requires if need != "right_to_delegate"),
                *(f"gate:{gate}" for gate in found.edge.gates),
            )
        )
        """What the edge requires of a brief."""
        self.works_by_brief = _works_by_brief(records, sender)
        self.file_scopes = tuple(_file_scopes(records, sender))
        self.words = words_for(sender)
        self.routings: dict[str | None, DispatchRouting] = {}
        """By whom the work is for; filled as it is asked."""


@per_view_and_key(4096)
def _pairs(
    view: OrgView, words: tuple[str, str]
) -> tuple[tuple[DispatchPair, ...], tuple[DispatchFinding, ...]]:
    senders, receivers, problems = find_parties(view, *words)
    return tuple(DispatchPair(view, each, role_id) for each in senders for role_id in receivers), problems


def find_pairs(
    view: OrgView, sender: str, receiver: str
) -> tuple[tuple[DispatchPair, ...], tuple[DispatchFinding, ...]]:
    """Each sender that a word names with each receiver that another one names, and what is wrong with the words."""
    return _pairs(view, (sender, receiver))


def words_for(sender: SubjectIdentity) -> frozenset[str]:
    """The words under which a claim can mean a subject: itself, and the roles it has."""
    return frozenset((sender.subject, *sender.keys))


def _reason(records: OrgRecords, found: EdgeFound | None) -> Reason | None:
    if found is not None:
        return Reason("DISPATCH_EDGE", found.why.text, (found.why,))
    if has_edges(records):
        return None
    text = "the organization declares no dispatch edges, so its chain of command and declared rights decide"
    return Reason("NO_DISPATCH_EDGES", text)


def _read_only_layers(records: OrgRecords, sender: SubjectIdentity) -> Iterator[tuple[str, Why]]:
    """A read-only layer looks at the others. It hands down work along its edges, and none that changes something."""
    governance = read_governance(records.governance)
    if governance is None:
        return
    for role_id in sender.roles:
        layer = layer_of(records, role_id)
        if layer is not None and layer in governance.layers and governance.layers[layer].read_only:
            place = records.declaring("layers").place("layers", layer, "read_only", key=True)
            yield layer, why_place(f"layer {layer} is read-only", place)


def _reading_without_edge(readers: tuple[tuple[str, Why], ...]) -> Iterator[DispatchFinding]:
    for layer, why in readers:
        text = f"layer {quote(layer)} only reads what other layers do"
        yield DispatchFinding("right to delegate", "GOVERNANCE_READ_ONLY", text, (why,))


def _edge_failures(
    records: OrgRecords, sender: SubjectIdentity, receiver: str, found: EdgeFound | None
) -> Iterator[DispatchFinding]:
    """No edge leads from a layer of the sender to that of the receiver. People and systems stand outside of the layers."""
    if found is not None or not sender.roles:
        return
    if not all(edges_forbid(records, role_id, receiver) for role_id in sender.roles):
        return
    theirs = " or ".join(dict.fromkeys(_layer_in_words(records, role_id) for role_id in sender.roles))
    text = f"no dispatch edge leads from {theirs} to {_layer_in_words(records, receiver)}"
    hops = [hop for role_id in sender.roles for hop in next_hop(records, role_id, receiver)]
    remedies = tuple(f"hand the work to role {quote(hop)}, which can pass it on" for hop in hops)
    why = (why_place("dispatch_edges", records.place_of_edges),)
    yield DispatchFinding("edge", "DISPATCH_EDGE_FORBIDDEN", text, why, remedies)


def _who(sender: SubjectIdentity) -> str:
    return f"{sender.kind} {quote(sender.id)}"


def _layer_in_words(records: OrgRecords, role_id: str) -> str:
    layer = layer_of(records, role_id)
    return f"role {quote(role_id)}, which is in no layer" if layer is None else f"layer {quote(layer)}"


def _position_failures(records: OrgRecords, sender: SubjectIdentity) -> Iterator[DispatchFinding]:
    """A worker executes. INVARIANT: nothing that is stored or stated lets it dispatch."""
    posts = [records.posts[role_id] for role_id in sender.roles]
    if posts and all(post.profile.position == "worker" for post in posts):
        text = say_worker(_who(sender))
        why = tuple(why_place(f"position of role {post.role_id}", post.place("position")) for post in posts)
        remedy = "the worker reports what is left to whoever dispatched it"
        yield DispatchFinding("right to delegate", "WORKER_CANNOT_DISPATCH", text, why, (remedy,))


def _delegation_required(
    records: OrgRecords, sender: SubjectIdentity, found: EdgeFound | None
) -> Iterator[DispatchFinding]:
    """The edge requires the right to delegate, and a declared right over the receiver alone is not enough."""
    if found is None or "right_to_delegate" not in found.edge.requires:
        return
    if not any(records.posts[role_id].profile.can_delegate for role_id in sender.roles):
        text = f"the edge requires the right to delegate, which {_who(sender)} does not have"
        yield DispatchFinding("right to delegate", "CANNOT_DELEGATE", text, (found.why,))


def _file_scopes(
    records: OrgRecords, sender: SubjectIdentity
) -> Iterator[tuple[str, tuple[str, ...], tuple[Why, ...]]]:
    """The file scope of each role of the sender that declares one. Without any, a role may write anywhere."""
    posts = [records.posts[role_id] for role_id in sender.roles]
    if posts and all(post.profile.file_scope for post in posts):
        whose = f"the file scope of {_who(sender)}"
        globs = tuple(glob for post in posts for glob in post.profile.file_scope)
        yield (
            whose,
            globs,
            tuple(
                why_place(f"file_scope of role {post.role_id}", post.place("file_scope")) for post in posts
            ),
        )


def _works_by_brief(records: OrgRecords, sender: SubjectIdentity) -> bool:
    """Whether an edge to the sender requires a brief, so that it has one itself."""
    governance = read_governance(records.governance)
    layers = {layer_of(records, role_id) for role_id in sender.roles}
    edges = () if governance is None else governance.dispatch_edges
    return any(edge.target in layers and "brief" in edge.requires for edge in edges)
