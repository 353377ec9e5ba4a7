"""Stored data about the work of agents: commissions and identities, episodes, personalities; and the organization's alert.

Each change is one transaction with its rows of the audit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any

import msgspec
from sqlalchemy import Column, Select, exists, insert, select, update

from orgkernel.decisions.evidence.crew_records import (
    OUTCOMES,
    AgentIdentity,
    Commission,
    Episode,
    KeyRevocation,
    OrgStatus,
    OrgStatusKind,
    OutcomeKind,
    Personality,
    PersonalityObservation,
    ServiceCounts,
    build_empty_service,
)
from orgkernel.decisions.evidence.skill_levels import LOWEST, SkillTerms
from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.decisions.evidence.state_view import STOPPED, AgentState, Lifecycle
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.state.agents import audit_agent, count_outcome
from orgkernel.state.chain import clean_text
from orgkernel.state.rows import (
    StoreContext,
    decode_record,
    encode_row,
    require_bound,
    require_id,
    require_time,
    require_word,
)
from orgkernel.state.skills import build_history_row, build_new_skill, encode_skill, exercise_skill
from orgkernel.state.tables import (
    agent_identities,
    agent_service,
    agents,
    commissions,
    episodes,
    key_revocations,
    org_status,
    outcome_counts,
    personality_observations,
    skill_assessments,
    skill_records,
)
from orgkernel.state.writer import Transaction

EPISODE_CONFLICT = "EPISODE_CONFLICT"
IDENTITY_CONFLICT = "IDENTITY_CONFLICT"
KEY_REVOKED = "KEY_REVOKED"
_MAX_NAMES = 500
"""Names in one statement."""
_MAX_EPISODES = 1_000
_MAX_OF_A_KIND = 64
"""Skills and tools of one episode."""


class CommissionDraft(msgspec.Struct, frozen=True):
    """The records to store for a commission, except those that exist already."""

    agent_id: str
    role_id: str
    lifecycle: Lifecycle
    skills: tuple[str, ...]
    """Skills in the order in which they are granted."""
    identity: AgentIdentity
    certificate: str
    """The signed certificate, as JSON."""
    right: Mapping[str, str] = MappingProxyType({})
    """The right by which the actor commissions this agent, for the audit."""


class CommissionedAgent(msgspec.Struct, frozen=True):
    """The new records of a commissioned agent."""

    agent_id: str
    identity: AgentIdentity
    """The stored certificate, which can be that of an earlier commission."""
    added: bool
    """Whether nothing was stored about the agent before."""
    born: bool
    """Whether the agent had no identity before."""
    assigned: bool
    """Whether it was not commissioned in this role before."""
    skills: tuple[str, ...]
    """Skills that the agent did not have before."""


class Crew:
    """The work and the persons of agents, in a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

    # -- the alert and the watch -------------------------------------------------------------------------------

    def set_status(
        self, org_id: str, kind: OrgStatusKind, value: str, *, actor: str, reason: str = ""
    ) -> OrgStatus:
        """Record the alert or the watch of an organization. Recording the same value again changes nothing."""
        require_id("the organization", org_id)
        require_id(f"the {kind}", value)
        where = (org_status.c.org_id == org_id, org_status.c.kind == kind)

        def change(transaction: Transaction) -> OrgStatus:
            row = transaction.connection.execute(select(org_status).where(*where)).first()
            if row is not None and row.value == value:
                return decode_record(OrgStatus, row)
            new = OrgStatus(org_id, kind, value, transaction.now, clean_text(actor), clean_text(reason))
            values = {**encode_row(new), "version": transaction.touch()}
            transaction.connection.execute(
                insert(org_status).values(values)
                if row is None
                else update(org_status).where(*where).values(values)
            )
            transaction.audit(
                AuditEntry(
                    "status",
                    transaction.now,
                    kind,
                    subject=f"organization:{org_id}",
                    actor=actor,
                    org_id=org_id,
                    record_id=value,
                    reason=reason,
                    detail={"from": None if row is None else row.value, "to": value},
                )
            )
            return new

        return self._context.change(change)

    # -- commissions -------------------------------------------------------------------------------------------

    def commission(
        self,
        org_id: str,
        drafts: Sequence[CommissionDraft],
        *,
        actor: str,
        snapshot: str,
        reason: str = "",
    ) -> tuple[CommissionedAgent, ...]:
        """Put agents to work, all of them or none. Existing records stay unchanged."""
        for skill in dict.fromkeys(skill for draft in drafts for skill in draft.skills):
            require_id("the skill", skill)
        for draft in drafts:
            require_id("the agent", draft.agent_id)
        return self._context.change(
            lambda transaction: _commission(transaction, org_id, drafts, actor, snapshot, reason)
        )

    def certificate(self, org_id: str, agent_id: str) -> str | None:
        """The signed certificate of an agent, as JSON; or None."""
        table = agent_identities
        query = select(table.c.certificate).where(table.c.org_id == org_id, table.c.agent_id == agent_id)
        with self._context.reading() as connection:
            return connection.scalar(query)

    def list_certificates(self) -> tuple[str, ...]:
        """The certificates of all organizations, as JSON, except those for revoked keys."""
        # A certificate stays in its row when its key is revoked, so the revocations decide what is listed.
        revoked = exists().where(
            key_revocations.c.org_id == agent_identities.c.org_id,
            key_revocations.c.did == agent_identities.c.did,
        )
        query = select(agent_identities.c.certificate).where(~revoked)
        with self._context.reading() as connection:
            return tuple(
                connection.scalars(query.order_by(agent_identities.c.org_id, agent_identities.c.agent_id))
            )

    def identities(self, org_id: str) -> dict[str, AgentIdentity]:
        """All identities of an organization, keyed by agent id."""
        query = select(agent_identities).where(agent_identities.c.org_id == org_id)
        return {each.agent_id: each for each in self._context.read(AgentIdentity, query)}

    # -- the end and the renewal of certificates ---------------------------------------------------------------

    def find_revocation(self, org_id: str, did: str) -> KeyRevocation | None:
        """The revocation of a key; None if it was not revoked."""
        table = key_revocations
        query = select(table).where(table.c.org_id == org_id, table.c.did == did)
        return next(iter(self._context.read(KeyRevocation, query)), None)

    def revoke_key(self, org_id: str, agent_id: str, *, actor: str, reason: str = "") -> KeyRevocation:
        """Revoke the key of an agent, and all certificates for it. Raises `UnknownRecord`, and `Conflict` if it is revoked."""

        def change(transaction: Transaction) -> KeyRevocation:
            identity = _require_identity(transaction, org_id, agent_id)
            _refuse_revoked(transaction, org_id, [identity.did], "ALREADY_REVOKED")
            revocation = KeyRevocation(
                org_id, identity.did, agent_id, transaction.now, clean_text(actor), clean_text(reason)
            )
            transaction.connection.execute(insert(key_revocations).values(encode_row(revocation)))
            transaction.touch()
            _note_key(transaction, org_id, agent_id, "key_revoked", actor, reason, identity.did)
            return revocation

        return self._context.change(change)

    def renew_certificate(
        self, org_id: str, replaced: str, identity: AgentIdentity, certificate: str, *, actor: str, reason: str = ""
    ) -> None:  # fmt: skip
        """Store a new certificate of an agent whose key was `replaced` so far, or is still the same.

        Raises `UnknownRecord`, and `Conflict` if the agent is not at work, its key is another one by now, or the new key
        was revoked or belongs to another agent.
        """

        def change(transaction: Transaction) -> None:
            agent_id = identity.agent_id
            known = _require_identity(transaction, org_id, agent_id)
            # Another renewal could have come first. Its caller must not be left with a certificate that nothing stores.
            if known.did != replaced:
                raise Conflict(
                    f"the agent {quote(agent_id)} now has the key {quote(known.did)}, not {quote(replaced)}",
                    "try again",
                    IDENTITY_CONFLICT,
                )
            _refuse_stopped(transaction, org_id, [agent_id])
            _refuse_revoked(transaction, org_id, [identity.did])
            owner = _find_owners(transaction, org_id, [identity.did]).get(identity.did, agent_id)
            _require_owner(identity.did, agent_id, owner)
            table = agent_identities
            transaction.connection.execute(
                update(table)
                .where(table.c.org_id == org_id, table.c.agent_id == agent_id)
                .values(did=identity.did, certificate=certificate, version=transaction.touch())
            )
            _note_key(
                transaction, org_id, agent_id, "certificate_renewed", actor, reason, identity.did, certificate
            )

        self._context.change(change)

    # -- episodes ----------------------------------------------------------------------------------------------

    def record_episode(
        self, episode: Episode, terms: Sequence[SkillTerms], *, actor: str, lifecycle: Lifecycle = "active"
    ) -> tuple[Episode, bool]:
        """Store a piece of work, exercise its skills, count its outcome. The second value tells whether it is new.

        The same episode again changes nothing; another one of the same id raises `Conflict` (`EPISODE_CONFLICT`). If
        `exercise_skill` raises an error, nothing of the episode is stored.
        """
        _require_episode(episode)
        return self._context.change(
            lambda transaction: _record_episode(transaction, episode, terms, actor, lifecycle)
        )

    def episodes(
        self, org_id: str, agent_id: str, *, before: int | None = None, limit: int = 50
    ) -> tuple[Episode, ...]:
        """The episodes of an agent, newest first; at most `limit` of those that were stored before number `before`."""
        query = select(episodes).where(episodes.c.org_id == org_id, episodes.c.agent_id == agent_id)
        if before is not None:
            query = query.where(episodes.c.number < before)
        query = query.order_by(episodes.c.number.desc()).limit(min(max(limit, 1), _MAX_EPISODES))
        return self._context.read(Episode, query)

    # -- personality -------------------------------------------------------------------------------------------

    def observe(
        self, org_id: str, agent_id: str, observed: Personality, *, actor: str, reason: str = ""
    ) -> PersonalityObservation:
        """Record a measured personality. Raises `Refused`."""
        require_id("the organization", org_id)
        require_id("the agent", agent_id)
        for trait, value in msgspec.structs.asdict(observed).items():
            if not 0 <= value <= 1:
                raise Refused(f"{quote(trait)} is {value:g}", "use a number between 0 and 1", "BAD_VALUE")

        def change(transaction: Transaction) -> PersonalityObservation:
            traits = msgspec.structs.asdict(observed)
            transaction.connection.execute(
                insert(personality_observations).values(
                    org_id=org_id, agent_id=agent_id, **traits, at=transaction.now, actor=clean_text(actor),
                    version=transaction.touch(),
                )
            )  # fmt: skip
            transaction.audit(
                AuditEntry(
                    "agent",
                    transaction.now,
                    "observed",
                    subject=f"agent:{agent_id}",
                    actor=actor,
                    org_id=org_id,
                    record_id=agent_id,
                    reason=reason,
                    detail=traits,
                )
            )
            return PersonalityObservation(agent_id, org_id, observed, transaction.now, clean_text(actor))

        return self._context.change(change)


# -- within the transaction of a commission ------------------------------------------------------------------------------


def _commission(
    transaction: Transaction,
    org_id: str,
    drafts: Sequence[CommissionDraft],
    actor: str,
    snapshot: str,
    reason: str,
) -> tuple[CommissionedAgent, ...]:
    """Commission agents within a transaction. Rows are read and inserted in bulk, so many agents need few statements."""
    names = list(dict.fromkeys(draft.agent_id for draft in drafts))
    now, actor, note = transaction.now, clean_text(actor), clean_text(reason)
    stored = _refuse_stopped(transaction, org_id, names)
    identities = {
        row.agent_id: decode_record(AgentIdentity, row)
        for row in _find(transaction, agent_identities, org_id, names, *agent_identities.c)
    }
    table = commissions
    roles = {
        (row.agent_id, row.role_id)
        for row in _find(transaction, table, org_id, names, table.c.agent_id, table.c.role_id)
    }
    held: dict[str, set[str]] = defaultdict(set)
    skills = skill_records
    for row in _find(transaction, skills, org_id, names, skills.c.agent_id, skills.c.skill):
        held[row.agent_id].add(row.skill)
    owners = _find_owners(transaction, org_id, [draft.identity.did for draft in drafts])
    _refuse_revoked(
        transaction, org_id, [draft.identity.did for draft in drafts if draft.agent_id not in identities]
    )
    # Rows are collected for each table and inserted at once: a crew of thousands costs a few statements.
    rows: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    done: list[CommissionedAgent] = []
    for draft in drafts:
        agent_id = draft.agent_id
        added = agent_id not in stored
        born = agent_id not in identities
        assigned = (agent_id, draft.role_id) not in roles
        new = tuple(skill for skill in dict.fromkeys(draft.skills) if skill not in held[agent_id])
        if added:
            stored[agent_id] = draft.lifecycle
            # Rank and trust are those of the roster until others are recorded.
            state = AgentState(agent_id, lifecycle=draft.lifecycle, org_id=org_id)
            rows[agents].append(encode_row(state))
        if born:
            # A key identifies one agent, within these drafts as well.
            _require_owner(draft.identity.did, agent_id, owners.setdefault(draft.identity.did, agent_id))
            identities[agent_id] = draft.identity
            rows[agent_identities].append({**encode_row(draft.identity), "certificate": draft.certificate})
        if assigned:
            roles.add((agent_id, draft.role_id))
            rows[commissions].append(
                encode_row(Commission(agent_id, org_id, draft.role_id, now, actor, snapshot))
            )
        for skill in new:
            held[agent_id].add(skill)
            record = build_new_skill(org_id, agent_id, skill, LOWEST, now, "commissioning")
            rows[skill_records].append(encode_skill(record))
            rows[skill_assessments].append(build_history_row(record, "acquired", now, actor, note))
        result = CommissionedAgent(agent_id, identities[agent_id], added, born, assigned, new)
        # Commissioning the same crew again changes nothing, and leaves no entry in the audit.
        if added or born or assigned or new:
            _note_commission(transaction, org_id, draft, result, actor, reason)
        done.append(result)
    if rows:
        version = transaction.touch()
        # The history of skills is only added to, so it has no version to read changes by.
        for into, values in rows.items():
            stamp = {} if into is skill_assessments else {"version": version}
            transaction.connection.execute(insert(into), [{**each, **stamp} for each in values])
    return tuple(done)


def _refuse_stopped(transaction: Transaction, org_id: str, names: Sequence[str]) -> dict[str, Lifecycle]:
    """The lifecycles of agents that have stored state. Raises `Conflict` if one is suspended or decommissioned."""
    stored: dict[str, Lifecycle] = {
        row.agent_id: row.lifecycle
        for row in _find(transaction, agents, org_id, names, agents.c.agent_id, agents.c.lifecycle)
    }
    for agent_id, lifecycle in stored.items():
        if lifecycle in STOPPED:
            raise Conflict(f"{quote(agent_id)} is {lifecycle}", code="AGENT_INACTIVE")
    return stored


def _refuse_revoked(
    transaction: Transaction, org_id: str, dids: Sequence[str], code: str = KEY_REVOKED
) -> None:
    """Raise `Conflict` if one of the keys was revoked."""
    table = key_revocations
    for start in range(0, len(dids), _MAX_NAMES):
        query = select(table).where(
            table.c.org_id == org_id, table.c.did.in_(dids[start : start + _MAX_NAMES])
        )
        for row in transaction.connection.execute(query):
            raise Conflict(
                f"the key {quote(row.did)} of the agent {quote(row.agent_id)} is already revoked",
                f"`orgkernel agent renew-certificate {row.agent_id}` gives the agent a new key",
                code,
            )


def _require_owner(did: str, agent_id: str, owner: str) -> None:
    if owner != agent_id:
        raise Conflict(
            f"the key {quote(did)} of {quote(agent_id)} belongs to the agent {quote(owner)}",
            "give each agent a key of its own",
            IDENTITY_CONFLICT,
        )


def _require_identity(transaction: Transaction, org_id: str, agent_id: str) -> AgentIdentity:
    columns = agent_identities.c
    for row in _find(transaction, agent_identities, org_id, [agent_id], *columns):
        return decode_record(AgentIdentity, row)
    raise _build_unknown_certificate(agent_id)


def _note_key(
    transaction: Transaction,
    org_id: str,
    agent_id: str,
    activity: str,
    actor: str,
    reason: str,
    did: str,
    certificate: str = "",
) -> None:
    transaction.audit(
        AuditEntry(
            "agent",
            transaction.now,
            activity,
            subject=f"agent:{agent_id}",
            actor=actor,
            org_id=org_id,
            record_id=agent_id,
            reason=reason,
            detail={
                "did": did,
                **({"certificate_sha256": sha256(certificate.encode()).hexdigest()} if certificate else {}),
            },
        )
    )


def _find_owners(transaction: Transaction, org_id: str, dids: Sequence[str]) -> dict[str, str]:
    """The agents that have these keys."""
    table = agent_identities
    agents_by_did: dict[str, str] = {}
    for start in range(0, len(dids), _MAX_NAMES):
        query = select(table.c.did, table.c.agent_id).where(
            table.c.org_id == org_id, table.c.did.in_(dids[start : start + _MAX_NAMES])
        )
        agents_by_did.update((row.did, row.agent_id) for row in transaction.connection.execute(query))
    return agents_by_did


def _find(
    transaction: Transaction, table: Any, org_id: str, names: Sequence[str], *columns: Column[Any]
) -> Iterable[Any]:
    for start in range(0, len(names), _MAX_NAMES):
        query: Select[Any] = select(*columns).where(
            table.c.org_id == org_id, table.c.agent_id.in_(names[start : start + _MAX_NAMES])
        )
        yield from transaction.connection.execute(query)


def _note_commission(
    transaction: Transaction,
    org_id: str,
    draft: CommissionDraft,
    result: CommissionedAgent,
    actor: str,
    reason: str,
) -> None:
    transaction.audit(
        AuditEntry(
            "agent",
            transaction.now,
            "commissioned",
            subject=f"agent:{draft.agent_id}",
            actor=actor,
            org_id=org_id,
            record_id=draft.agent_id,
            reason=reason,
            detail={
                **({"rank": None, "trust": None, "lifecycle": draft.lifecycle} if result.added else {}),
                "role": draft.role_id,
                "certificate_sha256": sha256(draft.certificate.encode()).hexdigest() if result.born else None,
                "skills": ", ".join(result.skills),
                **draft.right,
            },
        )
    )


# -- within the transaction of an episode --------------------------------------------------------------------------------


def _require_episode(episode: Episode) -> None:
    require_id("the episode", episode.episode_id)
    require_id("the organization", episode.org_id)
    require_id("the agent", episode.agent_id)
    require_word("the outcome", episode.outcome, OUTCOMES)
    require_time("the time", episode.at)
    require_bound(None, episode.digest or None)
    if len(episode.skills) > _MAX_OF_A_KIND or len(episode.tools) > _MAX_OF_A_KIND:
        raise Refused(
            "an episode names too many skills or tools",
            f"it can name at most {_MAX_OF_A_KIND} of each",
            "BAD_VALUE",
        )
    for what, name in (
        ("the role", episode.role_id), ("the intent", episode.intent), ("the tier", episode.tier),
        ("the cognitive skill", episode.cognitive_skill), ("the procedure", episode.procedure),
        *(("the skill", each) for each in episode.skills), *(("the tool", each) for each in episode.tools),
    ):  # fmt: skip
        if name is not None:
            require_id(what, name)


def _record_episode(
    transaction: Transaction, episode: Episode, terms: Sequence[SkillTerms], actor: str, lifecycle: Lifecycle
) -> tuple[Episode, bool]:
    known = _find_episode(transaction, episode)
    if known is not None:
        # A caller that got no answer sends the episode again, with a later time. That is the same episode.
        same = msgspec.structs.replace(known, at=episode.at, number=episode.number)
        if same != episode:
            raise Conflict(
                f"another episode has the id {quote(episode.episode_id)}",
                "give each piece of work an id of its own",
                EPISODE_CONFLICT,
            )
        return known, False
    values = encode_row(episode)
    del values["number"]
    written = transaction.connection.execute(insert(episodes).values(values))
    (number,) = written.inserted_primary_key or (0,)
    org_id, agent_id, succeeded = episode.org_id, episode.agent_id, episode.outcome == "success"
    for each in terms:
        exercise_skill(transaction, org_id, agent_id, each, actor=actor, note=f"episode {episode.episode_id}")
    # The roster declares agents without writing about them. Their first outcome needs a row to be counted in.
    _require_stored(transaction, org_id, agent_id, lifecycle, actor)
    count_outcome(transaction, org_id, agent_id, succeeded=succeeded)
    _count_service(transaction, episode)
    for kind, name in list_outcomes(episode):
        _count(transaction, org_id, agent_id, kind, name, succeeded)
    transaction.audit(
        AuditEntry(
            "episode",
            transaction.now,
            episode.outcome,
            subject=f"agent:{agent_id}",
            actor=actor,
            org_id=org_id,
            record_id=episode.episode_id,
            detail={
                name: value
                for name in ("role_id", "intent", "tier", "cognitive_skill", "procedure", "skills", "tools", "reference", "digest")
                if (value := getattr(episode, name))
            },
        )
    )  # fmt: skip
    return msgspec.structs.replace(episode, number=number), True


def list_outcomes(episode: Episode) -> Iterable[tuple[OutcomeKind, str]]:
    """The subjects of an episode's outcome, each once."""
    outcomes: list[tuple[OutcomeKind, str]] = []
    if episode.intent is not None:
        outcomes.append(("intent", episode.intent))
    if episode.cognitive_skill is not None:
        outcomes.append(("cognitive_skill", episode.cognitive_skill))
    if episode.procedure is not None:
        outcomes.append(("procedure", episode.procedure))
    outcomes += [("tool", tool) for tool in episode.tools]
    return dict.fromkeys(outcomes)


def _find_episode(transaction: Transaction, episode: Episode) -> Episode | None:
    query = select(episodes).where(
        episodes.c.org_id == episode.org_id, episodes.c.episode_id == episode.episode_id
    )
    row = transaction.connection.execute(query).first()
    return None if row is None else decode_record(Episode, row)


def _require_stored(
    transaction: Transaction, org_id: str, agent_id: str, lifecycle: Lifecycle, actor: str
) -> None:
    """Add an agent of the roster, if nothing is stored about it yet."""
    query = select(agents.c.agent_id).where(agents.c.org_id == org_id, agents.c.agent_id == agent_id)
    if transaction.connection.execute(query).first() is None:
        state = AgentState(agent_id, lifecycle=lifecycle, org_id=org_id)
        transaction.connection.execute(
            insert(agents).values(**encode_row(state), version=transaction.touch())
        )
        audit_agent(transaction, "created", actor, "declared by the roster", state)


def _count_service(transaction: Transaction, episode: Episode) -> None:
    table = agent_service
    where = (table.c.org_id == episode.org_id, table.c.agent_id == episode.agent_id)
    row = transaction.connection.execute(select(table).where(*where)).first()
    old = build_empty_service(episode) if row is None else decode_record(ServiceCounts, row)
    values = {**encode_row(old.add_episode(episode)), "version": transaction.touch()}
    transaction.connection.execute(
        insert(table).values(values) if row is None else update(table).where(*where).values(values)
    )


def _count(
    transaction: Transaction, org_id: str, agent_id: str, kind: OutcomeKind, name: str, succeeded: bool
) -> None:
    table, now = outcome_counts, transaction.now
    key = {"org_id": org_id, "agent_id": agent_id, "kind": kind, "name": name}
    counted = {"successes": int(succeeded), "failures": int(not succeeded)}
    changed = transaction.connection.execute(
        update(table)
        .where(*(table.c[column] == value for column, value in key.items()))
        .values(
            {column: table.c[column] + value for column, value in counted.items()}
            | {"last_at": now, "version": transaction.touch()}
        )
    )
    # Counting in the statement, not in this process, keeps the sums right while several processes write.
    if not changed.rowcount:
        transaction.connection.execute(
            insert(table).values(**key, **counted, last_at=now, version=transaction.touch())
        )


def require_certificate(certificate: str | None, agent_id: str) -> str:
    """The certificate of an agent. Raises `UnknownRecord` if it was never commissioned."""
    if certificate is None:
        raise _build_unknown_certificate(agent_id)
    return certificate


def _build_unknown_certificate(agent_id: str) -> UnknownRecord:
    return UnknownRecord(
        f"the agent {quote(agent_id)} has no certificate", "`orgkernel agent commission` creates it"
    )
