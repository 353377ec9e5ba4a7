"""Agent cards (A2A) of this server: the address of the agents, who may read the cards, and the key that signs them.

Settings, in `[a2a]` of orgkernel.toml: `url`, the address of the agents; `public_url`, the address of this server;
`binding`, the protocol there; `public`, whether the short cards need no credential; `sign_key`, a file with the key
that signs them. Addresses in answers come from the settings alone, never from a request.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import BadProject
from orgkernel.exchange.a2a.cards import (
    BINDINGS,
    Binding,
    Card,
    Endpoint,
    build_organization_card,
    build_role_card,
    is_address,
)
from orgkernel.exchange.a2a.keys import CardKeys
from orgkernel.exchange.ai_catalog import build_catalog, build_entries
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel

_SETTINGS = ("url", "public_url", "binding", "public", "sign_key")
_ID = r"[A-Za-z_][A-Za-z0-9_-]{0,99}"
CARD, CATALOG, KEYS = (f"/.well-known/{name}.json" for name in ("agent-card", "ai-catalog", "jwks"))
_PUBLIC = re.compile(rf"{CARD}|{CATALOG}|{KEYS}|/v1/orgs/{_ID}(?:/roles/{_ID})?/agent-card\.json")


@dataclass(frozen=True, slots=True)
class CardSettings:
    """The operator's settings for agent cards."""

    url: str
    """Address of the agents."""
    public_url: str
    """Public address of this server, without a trailing slash."""
    binding: Binding = "JSONRPC"
    is_public: bool = False
    """Whether callers without a credential may see short cards, the catalog and the public keys, from anywhere."""
    sign_key: str | None = None
    """Path of the key that signs cards."""


def read_card_settings(table: Mapping[str, Any], folder: str) -> CardSettings:
    """The settings of a project. Raises `BadProject`."""
    for name in table:
        if name not in _SETTINGS:
            raise BadProject(
                f"`[a2a]`: the setting {quote(name)} is not known",
                did_you_mean(name, _SETTINGS) or f"settings are {listing(_SETTINGS)}",
            )
    for name in ("url", "public_url"):
        if not isinstance(table.get(name), str) or not is_address(table[name]):
            raise BadProject(
                f"`[a2a]`: {quote(name)} is not an absolute address",
                f'write `{name} = "https://agents.example.com"`',
            )
    binding = table.get("binding", "JSONRPC")
    if binding not in BINDINGS:
        raise BadProject(f"`[a2a]`: `binding` is {quote(binding)}", f"it must be one of {listing(BINDINGS)}")
    is_public = table.get("public", False)
    if not isinstance(is_public, bool):
        raise BadProject("`[a2a]`: `public` is neither true nor false", "write `public = true`")
    key = table.get("sign_key")
    if key is not None and not (isinstance(key, str) and key):
        raise BadProject("`[a2a]`: `sign_key` is not a string", 'write `sign_key = "card-key.pem"`')
    return CardSettings(
        table["url"],
        table["public_url"].rstrip("/"),
        cast(Binding, binding),
        is_public,
        None if key is None else os.path.join(folder, key),
    )


class AgentCards:
    """The cards of the organizations of one kernel."""

    def __init__(self, settings: CardSettings) -> None:
        """Raises `UsageError` for a key that cannot be used."""
        self.settings = settings
        self._endpoint = Endpoint(settings.url, settings.binding)
        self.keys = None if settings.sign_key is None else CardKeys(settings.sign_key)

    def is_public(self, method: str, path: str) -> bool:
        """Whether a request needs no credential."""
        return self.settings.is_public and method in ("GET", "HEAD") and _PUBLIC.fullmatch(path) is not None

    def card(self, view: OrgView, role_id: str, *, short: bool) -> Card | None:
        """The card of a role, or of the organization if the role is empty. It is signed if there is a key."""
        if role_id:
            card = build_role_card(view, role_id, self._endpoint, short=short)
        else:
            card = build_organization_card(view, self._endpoint, short=short)
        return card if card is None or self.keys is None else self.keys.signer().sign(card)

    def catalog(self, kernel: Kernel) -> dict[str, Any]:
        """The index of the short cards of all served organizations."""
        domain = urlsplit(self.settings.public_url).hostname or ""
        entries: list[dict[str, Any]] = []
        for org_id, organization in kernel.state.served.items():
            base = f"{self.settings.public_url}/v1/orgs/{org_id}"

            def locate(role_id: str, card: Card, base: str = base) -> dict[str, Any]:
                return {
                    "url": f"{base}/roles/{role_id}/agent-card.json" if role_id else f"{base}/agent-card.json"
                }

            entries += build_entries(organization.snapshot.index, self._endpoint, domain, locate, short=True)
        return build_catalog(domain, domain, entries)
