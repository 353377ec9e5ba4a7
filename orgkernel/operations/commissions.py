"""Commission agents in a role, with a key, a signed birth certificate and the skills of the role.

The documents declare the agent and its role; the operation stores the facts that follow from them. All agents of one
call are commissioned, or none. Repeating it changes nothing, even after an interruption.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from orgkernel.decisions.crew.commissioning import CommissionDecision, CommissionStep, decide_commission
from orgkernel.decisions.evidence.crew_records import AgentIdentity
from orgkernel.decisions.evidence.state_view import Lifecycle, SkillRecord
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Refused
from orgkernel.kernel.access import OrganizationAccess
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.authority import require_authority
from orgkernel.operations.certificates import CERTIFICATE_SECONDS, open_identity_keys, require_issuer
from orgkernel.operations.context import Context
from orgkernel.operations.organizations import choose_organization, require_one
from orgkernel.operations.rights import Right
from orgkernel.runtime.utc import as_utc
from orgkernel.state.certificates import (
    BirthCertificate,
    decode_did,
    derive_did,
    render_certificate,
    sign_certificate,
)
from orgkernel.state.crew import CommissionDraft, CommissionedAgent

MAX_AT_ONCE = 10_000


class CommissionOrder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An agent, and the role to commission it in."""

    agent: str
    role: str
    public_key: str | None = None
    """The `did:key` of the agent, whose private key stays with the caller. By default, a key is created and kept next
    to the store.
    """
    probation: bool = False
    """Whether it begins on probation. Only for an agent without stored state."""


class CommissionOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one order."""

    agent_id: str
    org_id: str
    role_id: str
    outcome: str
    """`commissioned`, `already`, or in a dry run `would_commission`."""
    did: str | None
    """The `did:key` of the agent; None in a dry run if it has no key yet."""
    new_skills: tuple[str, ...]
    steps: tuple[CommissionStep, ...]


class CommissionReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a commission, by agent."""

    org_id: str
    dry_run: bool
    commissions: tuple[CommissionOutcome, ...]
    snapshot: str


def commission_agents(
    context: Context,
    orders: Sequence[CommissionOrder],
    *,
    org: str | None = None,
    reason: str = "",
    dry_run: bool = False,
) -> CommissionReport:
    """Commission agents, all of them or none. A dry run stores nothing and creates no keys.

    Raises `Refused` with the first agent that cannot be commissioned, and `StoreError`.
    """
    org_id = choose_organization(context, org)
    require_one(org_id, "a commission")
    kernel = context.documents
    rights = {
        agent: require_authority(
            context, f"agent:{agent}", f"commission {quote(f'agent:{agent}')}", itself="commission itself", org_id=org_id
        )
        for agent in dict.fromkeys(order.agent for order in orders)
    }  # fmt: skip
    context.store.read_view(org_id)  # a server decides with the latest state that it read
    org_access, decisions = _decide(kernel, org_id, orders)
    if dry_run:
        return _preview(org_access, decisions)
    done = _store(context, org_id, orders, decisions, rights, reason, org_access.view.digest)
    return CommissionReport(
        org_id=org_id,
        dry_run=False,
        commissions=tuple(
            _build_outcome(
                decision, "commissioned" if _is_new(each) else "already", each.identity.did, each.skills
            )
            for decision, each in zip(decisions, done, strict=True)
        ),
        snapshot=org_access.view.digest,
    )


def preview_commissions(kernel: Kernel, org: str, orders: Sequence[CommissionOrder]) -> CommissionReport:
    """The result that commissioning would have now. Nothing is stored. Raises `Refused` as `commission_agents` does."""
    org_access, decisions = _decide(kernel, org, orders)
    return _preview(org_access, decisions)


def _decide(
    kernel: Kernel, org: str, orders: Sequence[CommissionOrder]
) -> tuple[OrganizationAccess, list[CommissionDecision]]:
    """The decision about each order. Raises `Refused` for the first one that is refused."""
    if not 0 < len(orders) <= MAX_AT_ONCE:
        raise Refused(
            f"{len(orders)} agents cannot be commissioned at once", f"name 1 to {MAX_AT_ONCE}", "BAD_VALUE"
        )
    org_access = kernel.access(org)
    now = org_access.build_current_context().now
    decisions = [
        decide_commission(org_access.view, order.agent, order.role, org_access.state, now) for order in orders
    ]
    for decision in decisions:
        if decision.outcome == "refused":
            (reason,) = decision.reasons
            raise Refused(reason.text, decision.help, reason.code)
    return org_access, decisions


def _preview(org_access: OrganizationAccess, decisions: Sequence[CommissionDecision]) -> CommissionReport:
    stored, skills = org_access.state.identities, org_access.state.skills
    return CommissionReport(
        org_id=org_access.view.org_id,
        dry_run=True,
        commissions=tuple(
            _build_outcome(
                each,
                "already" if each.outcome == "already" else "would_commission",
                stored[each.agent_id].did if each.agent_id in stored else None,
                tuple(_list_new_skills(each, skills.get(each.agent_id, ()))),
            )
            for each in decisions
        ),
        snapshot=org_access.view.digest,
    )


def _is_new(done: CommissionedAgent) -> bool:
    return done.added or done.born or done.assigned or bool(done.skills)


def _list_new_skills(decision: CommissionDecision, skill_records: Sequence[SkillRecord]) -> list[str]:
    has = {each.skill for each in skill_records}
    return [skill for skill in decision.skills if skill not in has]


def _build_outcome(
    decision: CommissionDecision, outcome: str, did: str | None, skills: tuple[str, ...]
) -> CommissionOutcome:
    return CommissionOutcome(
        agent_id=decision.agent_id, org_id=decision.org_id, role_id=decision.role_id, outcome=outcome, did=did,
        new_skills=skills, steps=decision.steps,
    )  # fmt: skip


def _store(
    context: Context,
    org_id: str,
    orders: Sequence[CommissionOrder],
    decisions: Sequence[CommissionDecision],
    rights: Mapping[str, Right | None],
    reason: str,
    snapshot: str,
) -> tuple[CommissionedAgent, ...]:
    """Create the keys, sign the certificates, and store everything in one transaction.

    INVARIANT: a key is on the disk before the store names it. If storing fails, the key stays and the next commission
    of the agent uses it, so nothing has to be undone.
    """
    store = context.store
    keys = open_identity_keys(store, org_id)
    with keys.writing():
        stored = store.crew.identities(org_id)
        theirs = {order.agent: order.public_key for order in orders if order.public_key is not None}
        for did in theirs.values():
            decode_did(did)
        lacking = [order.agent for order in orders if order.agent not in stored and order.agent not in theirs]
        made = keys.make(lacking) if lacking else {}
        is_any_new = any(order.agent not in stored for order in orders)
        issuer = require_issuer(store, keys, org_id) if is_any_new else b""
        issuer_did = derive_did(issuer) if issuer else ""
        drafts = []
        now = store.context.clock()
        born, expires_at = as_utc(now) or "", as_utc(now + CERTIFICATE_SECONDS) or ""
        for order, decision in zip(orders, decisions, strict=True):
            lifecycle: Lifecycle = "probationary" if order.probation else "active"
            known, right = stored.get(order.agent), rights[order.agent]
            by: Mapping[str, str] = {} if right is None else right.detail
            if known is not None:
                _require_same_key(known, order)
                drafts.append(
                    CommissionDraft(order.agent, order.role, lifecycle, decision.skills, known, "", by)
                )
                continue
            did = theirs.get(order.agent) or made[order.agent].did
            certificate = sign_certificate(
                BirthCertificate(
                    did,
                    order.agent,
                    org_id,
                    order.role,
                    born,
                    context.actor.name,
                    snapshot,
                    issuer_did,
                    expires_at,
                ),
                issuer,
            )
            identity = AgentIdentity(order.agent, org_id, did, now)
            drafts.append(
                CommissionDraft(
                    order.agent, order.role, lifecycle, decision.skills, identity, render_certificate(certificate), by
                )
            )  # fmt: skip
        return store.crew.commission(
            org_id, drafts, actor=context.actor.name, snapshot=snapshot, reason=reason
        )


def _require_same_key(identity: AgentIdentity, order: CommissionOrder) -> None:
    if order.public_key not in (None, identity.did):
        raise Refused(
            f"the agent {quote(order.agent)} already has the key {quote(identity.did)}",
            "leave the public key out; an agent keeps its first key",
            "IDENTITY_CONFLICT",
        )
