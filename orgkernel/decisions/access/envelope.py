"""The envelope of a sender: everything that it may use in some circumstances.

Computing an envelope stores nothing, so it can also be used to try out policies.
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
# The value of a session key variable that the caller did not state.
_UNTOLD = "unknown"


class Routing(msgspec.Struct, frozen=True):
    """The session that a message goes to, and when it is handled."""

    session_key: str | None = None
    persona: str | None = None
    queue_mode: str | None = None
    delay_response: bool = False


class AccessEnvelope(msgspec.Struct, frozen=True):
    """The permissions of a subject in the given circumstances.

    >>> from orgkernel import Kernel
    >>> Kernel.open().envelope("household", "person:owner").routing.session_key
    'main'
    """

    subject: str
    """The canonical name of the subject. A sender that the directory knows becomes a person."""
    routing: Routing
    tools: tuple[AccessRow, ...]
    """The tools that are allowed or need an approval."""
    credentials: tuple[str, ...]
    data: str
    """The highest data tier."""
    policies_matched: tuple[str, ...]
    policies_denied: tuple[str, ...]
    """The matching policies that deny something."""
    snapshot: str
    state_version: int


def decide_envelope(
    view: OrgView, subject: str, context: AccessContext, state: StateView = EMPTY_STATE
) -> AccessEnvelope:
    """The envelope of a subject; empty for a name that no document declares."""
    tables = get_access_tables(view)
    known = tables.find_subject(subject)
    if known is None:
        return AccessEnvelope(subject, Routing(), (), (), DATA_TIERS[0], (), (), view.digest, state.version)
    request = tables.with_status(AccessRequest(known.subject, "", "", context), state)
    context = request.context
    rows = what_can(view, known.subject, request=request, state=state, kinds=("tool", "credential", "data"))
    able = [row.resource for row in rows if row.outcome == "allow"]
    tiers = [tier for tier in DATA_TIERS[1:] if f"data:{tier}" in able]
    matching = known.find_matching(context)
    deciding = known.get_policy_set(context).policies
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
    """The session settings of the matching policies, by priority. A pinned key overrides all others."""
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
    """A session key with its variables filled in. Unknown variables are left unchanged."""
    identity = subject.identity
    values = {
        "principal.name": identity.name, "principal.id": identity.id, "principal.relationship": identity.relationship,
        "channel": context.channel, "peer_id": context.peer_id, "account": context.account, "guild": context.guild,
    }  # fmt: skip
    return _VARIABLE.sub(lambda match: (values[match[1]] or _UNTOLD) if match[1] in values else match[0], key)
