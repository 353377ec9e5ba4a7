"""Tokens of an identity provider (OIDC, RFC 7519): issuer, audience, expiry and signature are verified.

Settings, in `[oidc]` of orgkernel.toml: `issuer` and `audience`; `jwks`, a file or an https URL with the provider's keys;
`algorithms`, of which only public-key ones exist here; `agent_claim` and `person_claim`, the claims that name the agent and
the person a token belongs to, and `org_claim`, the claim that names the organization, or a list of them, it is good for.
A token is good for the words of its `scope` claim that begin with `orgkernel:`, so that no scope of another service
opens anything here.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from manifest_api.guards.caller import SCOPES, TOKEN_CALLER, TOKEN_SCOPE_PREFIX, Caller
from orgkernel.decisions.evidence.state_records import KeyScope
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import BadProject

# INVARIANT: no algorithm that shares a secret, and none without a signature: a public key must never verify an HMAC.
ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
_SETTINGS = (
    "issuer", "audience", "jwks", "algorithms", "agent_claim", "person_claim", "org_claim", "page_client", "page_scope",
)  # fmt: skip
PAGE_SCOPE = "openid orgkernel:read"
_LEEWAY_SECONDS = 30
# The types of a token that gives access (RFC 7519, section 5.1, and RFC 9068, section 2.1).
_TYPES = ("jwt", "at+jwt")
_END_OF_TIME = 1e12
# Seconds for which a verified token is not verified again, and for which a refused one is refused at once.
_VERIFIED_SECONDS, _REFUSED_SECONDS = 60.0, 10.0
_MAX_REMEMBERED = 2_048
_MAX_LENGTH = 8_192
_MAX_NAME_LENGTH = 190


@dataclass(frozen=True, slots=True)
class TokenSettings:
    """The settings for accepted tokens."""

    issuer: str
    audience: str
    jwks: str
    """An https URL, or the path of a file."""
    algorithms: tuple[str, ...] = ("RS256", "ES256")
    agent_claim: str = "orgkernel_agent"
    person_claim: str = "orgkernel_person"
    org_claim: str = "orgkernel_org"
    page_client: str = ""
    """The client id of the page at the issuer. Without one, the page offers no sign-in at the issuer."""
    page_scope: str = PAGE_SCOPE
    """The scopes that the page asks the issuer for."""


class UnfitToken(Exception):
    """A token is not valid. The reason is for the log only."""


def read_settings(table: Mapping[str, Any], folder: str) -> TokenSettings:
    """The token settings of a project. Raises `BadProject`."""
    for name in table:
        if name not in _SETTINGS:
            raise BadProject(
                f"`[oidc]`: the setting {quote(name)} is not known",
                did_you_mean(name, _SETTINGS) or f"settings are {listing(_SETTINGS)}",
            )
    for name in ("issuer", "audience", "jwks"):
        if not isinstance(table.get(name), str) or not table[name]:
            raise BadProject(f"`[oidc]`: {quote(name)} is missing or not a string", f'write `{name} = "…"`')
    jwks: str = table["jwks"]
    if "://" in jwks and not jwks.startswith("https://"):
        raise BadProject("`[oidc]`: `jwks` is not an https URL", "write an https URL, or the path of a file")
    algorithms = table.get("algorithms", ["RS256", "ES256"])
    if not isinstance(algorithms, list) or not algorithms or not set(algorithms) <= set(ALGORITHMS):
        raise BadProject(
            "`[oidc]`: `algorithms` is not a list of known algorithms",
            f"algorithms are {listing(ALGORITHMS)}",
        )
    page_client = _read_page_setting(table, "page_client", "")
    if page_client:
        read_origin(table["issuer"])
    claims = []
    for name, default in (
        ("agent_claim", "orgkernel_agent"),
        ("person_claim", "orgkernel_person"),
        ("org_claim", "orgkernel_org"),
    ):
        claim = table.get(name, default)
        if not isinstance(claim, str) or not claim:
            raise BadProject(f"`[oidc]`: {quote(name)} is not a string", f'write `{name} = "…"`')
        claims.append(claim)
    path = jwks if "://" in jwks else os.path.join(folder, jwks)
    page_scope = _read_page_setting(table, "page_scope", PAGE_SCOPE)
    agent_claim, person_claim, org_claim = claims
    return TokenSettings(
        table["issuer"],
        table["audience"],
        path,
        tuple(algorithms),
        agent_claim,
        person_claim,
        org_claim,
        page_client,
        page_scope,
    )


def _read_page_setting(table: Mapping[str, Any], name: str, default: str) -> str:
    """A setting of the page: visible ASCII words, because it becomes a part of an address."""
    value = table.get(name, default)
    if (
        not isinstance(value, str)
        or (name in table and not value)
        or not re.fullmatch(r"[!-~]*( [!-~]+)*", value)
    ):
        raise BadProject(
            f"`[oidc]`: {quote(name)} is not a string of visible characters", f'write `{name} = "…"`'
        )
    return value


def read_origin(issuer: str) -> str:
    """The origin of an issuer that the page may ask: https, or http on loopback. Raises `BadProject`.

    >>> read_origin("https://login.example/realms/one")
    'https://login.example'
    """
    # It becomes a part of a security policy, so nothing that could end a directive is an issuer.
    match = re.fullmatch(
        r"(https://[A-Za-z0-9.-]+(?::\d{1,5})?|http://(?:127\.0\.0\.1|localhost)(?::\d{1,5})?)(/[A-Za-z0-9._~/-]*)?",
        issuer,
    )
    if match is None:
        raise BadProject(
            "`[oidc]`: the page cannot sign in at this `issuer`, which is not an https URL",
            "remove `page_client`, or write an https URL",
        )
    return match[1].lower()


class _UnknownKey(UnfitToken):
    """No key of the issuer has the key id of the token."""


class TokenVerifier:
    """Verifies tokens of one issuer. Used from one event loop; only fetched keys are waited for."""

    def __init__(self, settings: TokenSettings, clock: Callable[[], float]) -> None:
        """Raises `BadProject` if PyJWT is not installed or the key file cannot be used."""
        try:
            import jwt
        except ImportError:
            raise BadProject("tokens need PyJWT", "install the extra `orgkernel[oidc]`") from None
        from manifest_api.guards.token_keys import find_key, open_keys

        self._jwt = jwt
        self._settings = settings
        self._clock = clock
        self._keys = open_keys(settings.jwks)
        self._find_key = find_key
        self._remembered: OrderedDict[bytes, tuple[Caller | None, float, float]] = OrderedDict()
        """Each with its caller, and the times from which and until which it is remembered."""
        self._verified_by: Any = None
        """The keys that the remembered tokens were verified by."""

    def recall(self, token: str) -> Caller | UnfitToken | None:
        """The cached result of a recently verified token: its caller, or the reason why it is not valid."""
        # Before the keys are read: reading them starts a fetch, after which they are no longer due.
        is_due = self._keys.is_due()
        keys = self._keys.current()
        if keys is not self._verified_by:
            self._verified_by = keys
            self._remembered.clear()
        caller, since, until = self._remembered.get(_compute_digest(token), (None, 0.0, 0.0))
        # A clock that was ahead for a minute must not have a token refused until it gets there again.
        if not since <= self._clock() < until or (caller is not None and is_due):
            return None
        return UnfitToken("it was not valid a moment ago") if caller is None else caller

    async def identify(self, token: str, *, waits: bool = True) -> Caller:
        """The caller with a token. An unknown key is waited for, if it `waits`. Raises `UnfitToken`.

        If the keys are due to be fetched again, a valid token waits for that and is verified once more: its key may have been revoked
        since. Only valid tokens wait, so a flood of others occupies nothing.
        """
        try:
            keys = self._keys.current()
            try:
                caller = self.verify(token)
            except _UnknownKey:
                if not (waits and await self._keys.renew()):
                    raise
                caller = self.verify(token)
            await self._keys.refresh()
            if self._keys.current() is not keys:
                caller = self.verify(token)
        except _UnknownKey:
            raise
        except UnfitToken:
            self._remember(token, None, _REFUSED_SECONDS)
            raise
        lasts = _VERIFIED_SECONDS
        if caller.expires_at is not None:
            lasts = min(lasts, caller.expires_at + _LEEWAY_SECONDS - self._clock())
        self._remember(token, caller, lasts)
        return caller

    def _remember(self, token: str, caller: Caller | None, seconds: float) -> None:
        now = self._clock()
        self._remembered[_compute_digest(token)] = (caller, now, now + seconds)
        while len(self._remembered) > _MAX_REMEMBERED:
            self._remembered.popitem(last=False)

    def verify(self, token: str) -> Caller:
        """The caller with a token, by the keys that are known. Raises `UnfitToken`."""
        if len(token) > _MAX_LENGTH:
            raise UnfitToken("it is too long")
        try:
            header = self._jwt.get_unverified_header(token)
            if header.get("alg") not in self._settings.algorithms:
                raise UnfitToken("its algorithm is not allowed")
            if str(header.get("typ", "JWT")).lower().removeprefix("application/") not in _TYPES:
                raise UnfitToken("it is a token of another type")
            claims = self._jwt.decode(
                token,
                self._require_key_of(header.get("kid"), header["alg"]),
                algorithms=list(self._settings.algorithms),
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=_LEEWAY_SECONDS,
                options={
                    "require": ["exp", "iss", "aud", "sub"],
                    # Checked below with the clock of this server.
                    "verify_exp": False, "verify_nbf": False, "verify_iat": False,
                },
            )  # fmt: skip
        except self._jwt.PyJWTError as error:
            raise UnfitToken(f"{type(error).__name__}: {error}") from None
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            raise UnfitToken(f"it is malformed: {error}") from None
        return self._build_caller(claims)

    def _require_key_of(self, key_id: Any, algorithm: str) -> Any:
        key = self._find_key(self._keys.current(), key_id, algorithm)
        if key is None:
            raise _UnknownKey("no key of the issuer has its key id")
        return key

    def _build_caller(self, claims: Mapping[str, Any]) -> Caller:
        self._require_time(claims)
        subject = claims["sub"]
        agent = claims.get(self._settings.agent_claim)
        person = claims.get(self._settings.person_claim)
        orgs = _read_organizations(claims.get(self._settings.org_claim))
        for name in (subject, agent, person, *orgs):
            if name is not None and not _is_name(name):
                raise UnfitToken("its subject cannot be written to the audit")
        scopes = _read_scopes(claims.get("scope", ""))
        if agent is not None:
            # The operator of an agent must not be able to create keys for others.
            scopes -= {"admin"}
        # The token of an agent or a person that names no organization is not valid in any.
        bound_to = frozenset(orgs) if orgs or agent is not None or person is not None else None
        return Caller(f"{TOKEN_CALLER}{subject}", scopes, agent, float(claims["exp"]), person, bound_to)

    def _require_time(self, claims: Mapping[str, Any]) -> None:
        """Check the times of a token against the clock of the server. Raises `UnfitToken`."""
        now = self._clock()
        ends, begins = claims["exp"], claims.get("nbf", now)
        if not (_is_time(ends) and now < ends + _LEEWAY_SECONDS):
            raise UnfitToken("it has expired")
        if not (_is_time(begins) and begins - _LEEWAY_SECONDS <= now):
            raise UnfitToken("it is not valid yet")


def _compute_digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _is_time(value: Any) -> bool:
    """Whether a value is a time in seconds that a clock can reach. JSON can also contain infinite and very long numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _END_OF_TIME


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and name.isprintable() and 0 < len(name) <= _MAX_NAME_LENGTH


def _read_organizations(claim: Any) -> tuple[str, ...]:
    """The organizations of a claim, which is a string or a list of strings. Raises `UnfitToken` for anything else."""
    names = () if claim is None else (claim,) if isinstance(claim, str) else claim
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise UnfitToken("its organizations are not a string or a list of strings")
    return tuple(names)


def _read_scopes(claim: Any) -> frozenset[KeyScope]:
    """The scopes of the `scope` claim, which is a string of words or a list."""
    words = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
    ours = {
        word.removeprefix(TOKEN_SCOPE_PREFIX)
        for word in words
        if isinstance(word, str) and word.startswith(TOKEN_SCOPE_PREFIX)
    }
    return frozenset(scope for scope in SCOPES if scope in ours)
