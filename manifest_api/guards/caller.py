"""Who asks: what a verified credential says, and nothing that the request says of itself (docs/http.md)."""

from __future__ import annotations

from typing import get_args

import msgspec
from starlette.requests import Request
from starlette.types import Scope as RequestScope

from manifest_api.problems import KEY_REQUIRED, SCOPE_MISSING, RequestRefused
from orgkernel.decisions.state_records import KeyScope
from orgkernel.diagnostics.wording import quote
from orgkernel.operations.context import Actor

_PLACE = "orgkernel.caller"
SCOPES: frozenset[KeyScope] = frozenset(get_args(KeyScope))


class Caller(msgspec.Struct, frozen=True):
    """Whoever sent a request."""

    credential: str
    """What the audit calls it: `caller:KEY_ID`, `oidc:SUBJECT`, or `loopback` for anybody on this machine.

    Not `key:` and not `token:`, which the audit would take for the beginning of a secret and mask.
    """
    scopes: frozenset[KeyScope]
    agent_id: str | None = None
    """The agent the credential belongs to."""
    expires_at: float | None = None
    person_id: str | None = None
    """The person the credential belongs to, or who runs its agent."""

    @property
    def actor(self) -> Actor:
        """The caller, as operations know whoever makes a change."""
        person = "" if self.person_id is None else f"person:{self.person_id}"
        uses_grants = self.is_known and self.may("report")
        if self.agent_id is None:
            return Actor(self.credential, person, uses_grants)
        return Actor(self.credential, f"agent:{self.agent_id}", uses_grants, person)

    @property
    def is_known(self) -> bool:
        """Whether there is a credential at all."""
        return self.credential != ANYBODY.credential

    def may(self, scope: KeyScope) -> bool:
        """Whether the credential is good for it; `admin` is good for everything."""
        return scope in self.scopes or "admin" in self.scopes


ANYBODY = Caller("loopback", frozenset({"read"}))
"""Without a key: somebody on this machine, who may ask and nothing else."""


def note_caller(scope: RequestScope, caller: Caller) -> None:
    """For the gate: who it let in."""
    scope[_PLACE] = caller


def caller_of(request: Request | RequestScope) -> Caller:
    """Who asks, as the gate found out."""
    caller: Caller = (request.scope if isinstance(request, Request) else request)[_PLACE]
    return caller


def require_scope(request: Request | RequestScope, scope: KeyScope) -> Caller:
    """Who asks, if the credential is good for this; raises `RequestRefused` (401 without one, 403 with another)."""
    caller = caller_of(request)
    if caller.may(scope):
        return caller
    if not caller.is_known:
        raise RequestRefused(
            KEY_REQUIRED,
            f"without a key, this machine may ask and nothing else; this needs the scope {quote(scope)}",
            "send `Authorization: Bearer KEY`; `orgkernel key create` makes one",
        )
    raise RequestRefused(
        SCOPE_MISSING,
        f"the credential is not good for {quote(scope)}",
        f"ask for one with the scope {quote(scope)}",
    )
