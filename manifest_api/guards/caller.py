"""The caller of a request, by its verified credential only (docs/authentication.md)."""

from __future__ import annotations

from typing import get_args

import msgspec
from starlette.requests import Request
from starlette.types import Scope as RequestScope

from manifest_api.problems import KEY_REQUIRED, SCOPE_MISSING, RequestRefused, build_challenge
from orgkernel.decisions.evidence.state_records import KeyScope
from orgkernel.diagnostics.wording import quote
from orgkernel.operations.context import Actor

_PLACE = "orgkernel.caller"
SCOPES: frozenset[KeyScope] = frozenset(get_args(KeyScope))
TOKEN_CALLER = "oidc:"
"""The beginning of the names of callers with a token."""
TOKEN_SCOPE_PREFIX = "orgkernel:"
"""The beginning of the scopes of tokens that are key scopes, so that no scope of another service opens anything here."""


class Caller(msgspec.Struct, frozen=True):
    """The caller of a request."""

    credential: str
    """Its name in the audit: `caller:KEY_ID`, `oidc:SUBJECT`, or `loopback` for a caller without a credential.

    It does not begin with `key:` or `token:`, because the audit would mask it as a secret.
    """
    scopes: frozenset[KeyScope]
    agent_id: str | None = None
    """The agent that the credential belongs to."""
    expires_at: float | None = None
    person_id: str | None = None
    """The person the credential belongs to, or who runs its agent."""
    orgs: frozenset[str] | None = None
    """The organizations it is valid in; None for all."""

    @property
    def actor(self) -> Actor:
        """The caller as the actor of an operation."""
        person = "" if self.person_id is None else f"person:{self.person_id}"
        uses_grants = self.is_known and self.may("report")
        if self.agent_id is None:
            return Actor(self.credential, person, uses_grants, orgs=self.orgs)
        return Actor(self.credential, f"agent:{self.agent_id}", uses_grants, person, self.orgs)

    @property
    def has_token(self) -> bool:
        """Whether the credential is a token of the identity provider."""
        return self.credential.startswith(TOKEN_CALLER)

    @property
    def is_known(self) -> bool:
        """Whether the caller has a credential."""
        return self.credential != ANYBODY.credential

    def may(self, scope: KeyScope) -> bool:
        """Whether the credential has a scope. `admin` includes all scopes."""
        return scope in self.scopes or "admin" in self.scopes


ANYBODY = Caller("loopback", frozenset({"read"}))
"""A caller on loopback without a key. It may ask, and may change nothing."""

VISITOR = Caller("visitor", frozenset({"read"}))
"""A caller without a key, from any address, for public requests only."""


def note_caller(scope: RequestScope, caller: Caller) -> None:
    """Remember the caller that the gate identified."""
    scope[_PLACE] = caller


def get_caller(request: Request | RequestScope) -> Caller:
    """The caller that the gate identified."""
    caller: Caller = (request.scope if isinstance(request, Request) else request)[_PLACE]
    return caller


def get_caller_name(scope: RequestScope) -> str:
    """The name of the caller's credential. Empty for a request that the gate refused."""
    caller: Caller | None = scope.get(_PLACE)
    return "" if caller is None else caller.credential


def require_scope(request: Request | RequestScope, scope: KeyScope) -> Caller:
    """The caller, if it has the scope. Raises `RequestRefused`: 401 without a credential, 403 without the scope."""
    caller = get_caller(request)
    if caller.may(scope):
        return caller
    if not caller.is_known:
        raise RequestRefused(
            KEY_REQUIRED,
            f"a caller without a key cannot change anything; this needs the scope {quote(scope)}",
            "send `Authorization: Bearer KEY`; `orgkernel key create` creates one",
        )
    raise build_scope_refusal(scope)


def build_scope_refusal(scope: KeyScope) -> RequestRefused:
    """The refusal of a credential without a scope. A client of OAuth learns which one to ask for."""
    return RequestRefused(
        SCOPE_MISSING,
        f"the credential does not have the scope {quote(scope)}",
        f"use a credential with the scope {quote(scope)}",
        headers={"WWW-Authenticate": build_challenge("insufficient_scope", f"{TOKEN_SCOPE_PREFIX}{scope}")},
    )
