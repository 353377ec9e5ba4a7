"""May one role or layer dispatch another? Whether it fails is asked step by step, and every step is asked.

Edges, positions and layers are facts of the organization: no stored grant opens them. The right to delegate, depth,
children, PACE and what stops the run are asked of access. Fails closed: a name that nobody declares is never allowed,
and neither is a role without a layer where edges bind layers.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from orgkernel.decisions.access.decide import decide_with_reasons
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.identity import SubjectIdentity, identify
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import DISPATCH
from orgkernel.decisions.dispatch_permission.briefs import (
    NO_BRIEFS,
    DispatchBriefs,
    brief_of,
    find_brief_failures,
    find_wider_permissions,
    find_wider_scope,
    find_writes_of_readers,
)
from orgkernel.decisions.dispatch_permission.edges import (
    EdgeFound,
    edges_forbid,
    find_edge,
    has_edges,
    layer_of,
    next_hop,
    roles_in,
)
from orgkernel.decisions.dispatch_permission.governed_briefs import (
    find_gate_failures,
    find_sacred_files,
    find_unlisted_operations,
    sacred_obligations,
)
from orgkernel.decisions.dispatch_permission.live_claims import find_broken_batch, find_claimed_files
from orgkernel.decisions.dispatch_permission.permission import (
    STEPS,
    DispatchFinding,
    DispatchPermission,
    DispatchStep,
    HandoverQuestion,
    PermissionOutcome,
)
from orgkernel.decisions.dispatch_permission.routing import route_dispatch
from orgkernel.decisions.reasons import Reason, Why, why_place
from orgkernel.decisions.state_view import EMPTY_STATE, StateView
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.governance import read_governance
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords

_STEP_OF: dict[str, DispatchStep] = {
    "DISPATCH_EDGE_FORBIDDEN": "edge",
    "WORKER_CANNOT_DISPATCH": "right to delegate",
    "POSITION_CAP": "right to delegate",
    "CANNOT_DELEGATE": "right to delegate",
    "TARGET_NOT_ALLOWED": "right to delegate",
    "DEPTH_EXCEEDED": "depth and children",
    "CHILD_LIMIT": "depth and children",
    "PACE_CAP": "pace",
}
_STATED = ("depth", "children", "concurrent")
_UNDECIDED = {"CONTEXT_MISSING", "BRIEF_UNREADABLE", "BRIEF_PARENT_UNSTATED"}
"""What is not known, and would decide. It never opens; where nothing else fails, nobody can tell."""


def decide_dispatch_permission(
    view: OrgView,
    question: HandoverQuestion,
    state: StateView = EMPTY_STATE,
    briefs: DispatchBriefs = NO_BRIEFS,
) -> DispatchPermission:
    """The permission for a sender and a receiver. Of a layer with several roles, the strictest answer counts."""
    senders, receivers, problems = find_parties(view, question.sender, question.receiver)
    if problems:
        return _answer(view, state, question, "cannot_tell", problems)
    answers = [
        _decide(view, question, identity, role_id, state, briefs)
        for identity in senders
        for role_id in receivers
    ]
    return max(answers, key=lambda each: _SEVERITY[each.outcome])


def find_parties(
    view: OrgView, sender: str, receiver: str
) -> tuple[list[SubjectIdentity], tuple[str, ...], tuple[DispatchFinding, ...]]:
    """The subjects and the roles that two words name, and what is wrong with the words."""
    senders, unknown = _senders(view, sender)
    receivers, missing = _named_roles(view.records, receiver)
    return senders, receivers, tuple(each for each in (unknown, missing) if each is not None)


_SEVERITY: dict[PermissionOutcome, int] = {"allow": 0, "cannot_tell": 1, "deny": 2}


def _senders(view: OrgView, written: str) -> tuple[list[SubjectIdentity], DispatchFinding | None]:
    """The subjects that a word names: a role, the roles of a layer, or a subject with its kind."""
    kind, colon, _ = written.partition(":")
    if colon and kind not in ("role", "layer"):
        identity = identify(view, written)
        if identity is not None:
            return [identity], None
        text = f"{quote(written)} is not declared"
        return [], DispatchFinding("names", "UNKNOWN_PRINCIPAL", text)
    roles, problem = _named_roles(view.records, written)
    found = (identify(view, f"role:{role_id}") for role_id in roles)
    return [each for each in found if each is not None], problem


def _named_roles(records: OrgRecords, written: str) -> tuple[tuple[str, ...], DispatchFinding | None]:
    """The roles that a word names. A role is meant where a role and a layer have the same name."""
    kind, colon, name = written.partition(":")
    name = name if colon else written
    layers = (*records.organization.layers, *dict.fromkeys(filter(None, _layers_of_roles(records))))
    if (not colon or kind == "role") and name in records.posts:
        return (name,), None
    if (not colon or kind == "layer") and name in layers:
        roles = roles_in(records, name)
        if roles:
            return roles, None
        place = records.declaring("layers").place("layers", key=True)
        why = (why_place("layers", place),) if name in records.organization.layers else ()
        return (), DispatchFinding("names", "LAYER_EMPTY", f"layer {quote(name)} has no role", why)
    code = "LAYER_UNKNOWN" if kind == "layer" and colon else "ROLE_UNKNOWN"
    what = "layer" if code == "LAYER_UNKNOWN" else "role or layer"
    hint = did_you_mean(name, (*records.posts, *layers))
    text = f"{what} {quote(name)} is not declared{f'; {hint}' if hint else ''}"
    return (), DispatchFinding("names", code, text)


def _layers_of_roles(records: OrgRecords) -> Iterator[str | None]:
    return (layer_of(records, role_id) for role_id in records.posts)


def _decide(
    view: OrgView,
    question: HandoverQuestion,
    sender: SubjectIdentity,
    receiver: str,
    state: StateView,
    briefs: DispatchBriefs,
) -> DispatchPermission:
    records = view.records
    edges = [find_edge(records, role_id, receiver) for role_id in sender.roles]
    found = next((each for each in edges if each is not None), None)
    findings = [*_edge_failures(records, sender, receiver, found), *_position_failures(records, sender)]
    findings += _delegation_required(records, sender, found)
    findings += _read_only(records, question, sender, found, briefs)
    request = AccessRequest(
        sender.subject, DISPATCH, f"role:{receiver}", _circumstances(question), question.on_behalf_of
    )
    decision, reasons = decide_with_reasons(view, request, state)
    if decision.outcome != "allow":
        said = {each.code for each in findings}
        # What the documents forbid, no remedy of access changes.
        remedies = () if said else tuple(each.text for each in explain_access(view, request, state).remedies)
        for reason in reasons or (Reason(decision.code, decision.code),):
            if reason.code in said or (reason.code == "POSITION_CAP" and "WORKER_CANNOT_DISPATCH" in said):
                continue
            step = _STEP_OF.get(reason.code, "permissions")
            findings.append(DispatchFinding(step, reason.code, reason.text, reason.why, remedies))
    findings += find_brief_failures(briefs)
    findings += find_gate_failures(records, briefs, found)
    findings += find_unlisted_operations(records, briefs)
    findings += find_wider_permissions(briefs)
    findings += find_sacred_files(records, briefs)
    findings += find_wider_scope(briefs, _file_scopes(records, sender), records.organization.workspace_root)
    findings += find_claimed_files(briefs, state.claims, question.context.now, words_for(sender))
    findings += find_broken_batch(records, briefs, state.claims, question.context.now)
    findings.sort(key=lambda each: STEPS.index(each.step))
    outcome: PermissionOutcome = "deny" if findings else "allow"
    if findings and {each.code for each in findings} <= _UNDECIDED:
        outcome = "cannot_tell"
    if found is not None:
        reasons = (Reason("DISPATCH_EDGE", found.why.text, (found.why,)), *reasons)
    elif not has_edges(records):
        text = (
            "the organization declares no dispatch edges, so its chain of command and declared rights decide"
        )
        reasons = (Reason("NO_DISPATCH_EDGES", text), *reasons)
    obligations = (*_owed(records, question, sender, found, briefs), *decision.obligations)
    return _answer(
        view, state, question, outcome, tuple(findings), reasons, obligations, sender, receiver, found,
        decision.code,
    )  # fmt: skip


def _circumstances(question: HandoverQuestion) -> AccessContext:
    stated = {name: getattr(question, name) for name in (*_STATED, "pace")}
    return replace(question.context, **{name: value for name, value in stated.items() if value is not None})


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


def words_for(sender: SubjectIdentity) -> frozenset[str]:
    """The words under which a claim can mean a subject: itself, and the roles it has."""
    return frozenset((sender.subject, *sender.keys))


def _who(sender: SubjectIdentity) -> str:
    return f"{sender.kind} {quote(sender.id)}"


def _layer_in_words(records: OrgRecords, role_id: str) -> str:
    layer = layer_of(records, role_id)
    return f"role {quote(role_id)}, which is in no layer" if layer is None else f"layer {quote(layer)}"


def _position_failures(records: OrgRecords, sender: SubjectIdentity) -> Iterator[DispatchFinding]:
    """A worker executes. INVARIANT: nothing that is stored or stated lets it dispatch."""
    posts = [records.posts[role_id] for role_id in sender.roles]
    if posts and all(post.profile.position == "worker" for post in posts):
        text = f"{_who(sender)} has position `worker`, which executes work and does not dispatch it"
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


def _read_only(
    records: OrgRecords,
    question: HandoverQuestion,
    sender: SubjectIdentity,
    found: EdgeFound | None,
    briefs: DispatchBriefs,
) -> Iterator[DispatchFinding]:
    """A read-only layer looks at the others. It hands down work along its edges, and none that changes something."""
    governance = read_governance(records.governance)
    if governance is None:
        return
    for role_id in sender.roles:
        layer = layer_of(records, role_id)
        if layer is not None and layer in governance.layers and governance.layers[layer].read_only:
            text = f"layer {quote(layer)} only reads what other layers do"
            place = records.declaring("layers").place("layers", layer, "read_only", key=True)
            why = (why_place(f"layer {layer} is read-only", place),)
            if found is None:
                yield DispatchFinding("right to delegate", "GOVERNANCE_READ_ONLY", text, why)
            elif not question.budget_guard:
                yield from find_writes_of_readers(briefs, layer, why)


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


def _owed(
    records: OrgRecords,
    question: HandoverQuestion,
    sender: SubjectIdentity,
    found: EdgeFound | None,
    briefs: DispatchBriefs,
) -> Iterator[str]:
    """What the edge requires and is not shown, and what of the run is not stated."""
    brief = brief_of(briefs.brief)
    if found is not None and brief is None:
        yield from (need for need in found.edge.requires if need != "right_to_delegate")
        yield from (f"gate:{gate}" for gate in found.edge.gates)
    yield from sacred_obligations(records, briefs)
    if (
        brief is not None
        and briefs.parent is None
        and brief.parent is None
        and _works_by_brief(records, sender)
    ):
        yield "state:parent_brief"
    yield from (f"state:{name}" for name in _STATED if getattr(question, name) is None)


def _works_by_brief(records: OrgRecords, sender: SubjectIdentity) -> bool:
    """Whether an edge to the sender requires a brief, so that it has one itself."""
    governance = read_governance(records.governance)
    layers = {layer_of(records, role_id) for role_id in sender.roles}
    edges = () if governance is None else governance.dispatch_edges
    return any(edge.target in layers and "brief" in edge.requires for edge in edges)


def _answer(
    view: OrgView,
    state: StateView,
    question: HandoverQuestion,
    outcome: PermissionOutcome,
    findings: tuple[DispatchFinding, ...],
    reasons: tuple[Reason, ...] = (),
    obligations: tuple[str, ...] = (),
    sender: SubjectIdentity | None = None,
    receiver: str | None = None,
    found: EdgeFound | None = None,
    source: str = "",
) -> DispatchPermission:
    records = view.records
    first = next(
        (each for each in findings if each.code not in _UNDECIDED), findings[0] if findings else None
    )
    routing = None
    if outcome == "allow" and sender is not None and receiver is not None:
        posts = [records.posts[role_id].profile for role_id in sender.roles]
        routing = route_dispatch(
            view.org_id, sender.id, sender.kind, posts[0] if posts else None, records.posts[receiver].profile, found,
            question.on_behalf_of,
        )  # fmt: skip
    depth = question.depth
    return DispatchPermission(
        outcome=outcome,
        code=source if first is None else first.code,
        sender=question.sender if sender is None else sender.subject,
        receiver=question.receiver if receiver is None else f"role:{receiver}",
        reasons=reasons if first is None else (Reason(first.code, first.text, first.why),),
        findings=findings,
        obligations=obligations if outcome != "deny" else (),
        routing=routing,
        depth_left=None if depth is None else max(records.organization.limits.max_spawn_depth - depth - 1, 0),
        governance="" if records.governance is None else records.governance.name,
        snapshot=view.digest,
        state_version=state.version,
    )
