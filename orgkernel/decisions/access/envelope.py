"""Everything a sender gets in some circumstances, before anything particular is asked.

Nothing is stored by it: it is also the dry run of policies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.policies import AccessPolicy
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.documents.records import DATA_TIERS
from orgkernel.graph.questions import OrgView

_VARIABLE = re.compile(r"\{([a-z_.]+)\}")
# What stands in a session key for what nobody told.
_UNTOLD = "unknown"


class Routing(msgspec.Struct, frozen=True):
    """Where a message goes, and when."""

    session_key: str | None = None
    persona: str | None = None
    queue_mode: str | None = None
    delay_response: bool = False


class AccessEnvelope(msgspec.Struct, frozen=True):
    """What a subject gets here and now.

    >>> from orgkernel import Kernel
    >>> Kernel.open().envelope("household", "person:owner").routing.session_key
    'main'
    """

    subject: str
    """In its plain form: a sender that the directory knows is a person."""
    routing: Routing
    tools: tuple[AccessRow, ...]
    """What is allowed, or has to be asked for."""
    credentials: tuple[str, ...]
    data: str
    """The highest data tier."""
    policies_matched: tuple[str, ...]
    policies_denied: tuple[str, ...]
    """Those of them that deny something."""
    snapshot: str
    state_version: int


def decide_envelope(
    view: OrgView, subject: str, context: AccessContext, state: StateView = EMPTY_STATE
) -> AccessEnvelope:
    """The envelope of a subject; an empty one for a name that nothing declares."""
    tables = get_access_tables(view)
    known = tables.subject(subject)
    if known is None:
        return AccessEnvelope(subject, Routing(), (), (), DATA_TIERS[0], (), (), view.digest, state.version)
    request = tables.with_status(AccessRequest(known.subject, "", "", context), state)
    context = request.context
    rows = what_can(view, known.subject, request=request, state=state, kinds=("tool", "credential", "data"))
    able = [row.resource for row in rows if row.outcome == "allow"]
    tiers = [tier for tier in DATA_TIERS[1:] if f"data:{tier}" in able]
    matching = known.matching(context)
    deciding = known.policy_set(context).policies
    return AccessEnvelope(
        known.subject,
        route(known, context, [policy for policy in matching if policy in deciding or not policy.decisive]),
        tuple(row for row in rows if row.resource.startswith("tool:") and row.outcome != "deny"),
        tuple(each.partition(":")[2] for each in able if each.startswith("credential:")),
        tiers[-1] if tiers else DATA_TIERS[0],
        tuple(policy.id for policy in matching),
        tuple(policy.id for policy in deciding if policy.denies),
        view.digest,
        state.version,
    )


def route(subject: Subject, context: AccessContext, policies: Iterable[AccessPolicy]) -> Routing:
    """What policies that match say about the session, by priority: a pinned key wins over those that are not."""
    speaking = [policy.definition.record for policy in policies if policy.effect in ("allow", "annotate")]
    keys = [each.session for each in speaking if each.session.key is not None]
    chosen = next((session for session in keys if session.pin), keys[0] if keys else None)
    personas = [each.session.persona for each in speaking if each.session.persona is not None]
    modes = [each.modifiers.queue_mode for each in speaking if each.modifiers.queue_mode is not None]
    delays = [each.modifiers.delay_response for each in speaking if each.modifiers.delay_response is not None]
    return Routing(
        None if chosen is None or chosen.key is None else fill(chosen.key, subject, context),
        personas[0] if personas else None,
        modes[0] if modes else None,
        delays[0] if delays else False,
    )


def fill(key: str, subject: Subject, context: AccessContext) -> str:
    """A session key with its variables filled in; a variable nobody knows stays as it is written."""
    identity = subject.identity
    values = {
        "principal.name": identity.name, "principal.id": identity.id, "principal.relationship": identity.relationship,
        "channel": context.channel, "peer_id": context.peer_id, "account": context.account, "guild": context.guild,
    }  # fmt: skip
    return _VARIABLE.sub(lambda match: (values[match[1]] or _UNTOLD) if match[1] in values else match[0], key)
