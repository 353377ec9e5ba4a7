"""AI Catalog (experimental): one index of all cards of an organization.

The format has no version 1 yet and still changes.

`specVersion` is the version of the format that is written here. Entries have the media type of A2A cards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from orgkernel.exchange.a2a.cards import (
    Card,
    Endpoint,
    build_organization_card,
    build_placeholder,
    build_role_card,
)
from orgkernel.exchange.a2a.export import export_a2a
from orgkernel.exchange.exported import ConvertedFiles, Loss
from orgkernel.exchange.marks import render_mark
from orgkernel.graph.questions import OrgView

TARGET = "ai-catalog"
CATALOG_FILE = "ai-catalog.json"
SPEC_VERSION = "1.0"
CARD_TYPE = "application/a2a-agent-card+json"
NOWHERE = "agents.invalid"


def export_ai_catalog(view: OrgView, endpoint: Endpoint | None = None) -> ConvertedFiles:
    """Export the catalog of an organization, with complete cards."""
    where = build_placeholder(view.org_id) if endpoint is None else endpoint
    entries = list(build_entries(view, where, NOWHERE, lambda role_id, card: {"data": card}))
    catalog = build_catalog(view.records.organization.name, NOWHERE, entries)
    marked = {"metadata": {"$comment": render_mark(view.org_id, TARGET)}, **catalog}
    text = json.dumps(marked, ensure_ascii=False, indent=2)
    losses = (
        Loss("stability", "experimental: the format is not finished, and its fields may change"),
        Loss("publisher", f"no document names a domain, so identifiers have `{NOWHERE}`"),
        *export_a2a(view, endpoint).lost,
    )
    return ConvertedFiles(
        {CATALOG_FILE: f"{text}\n"}, ("cards of the organization and of its roles",), losses
    )


def build_catalog(name: str, domain: str, entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A catalog with its host."""
    return {
        "specVersion": SPEC_VERSION,
        "host": {"displayName": name, "identifier": domain},
        "entries": entries,
    }


def build_entries(
    view: OrgView,
    endpoint: Endpoint,
    domain: str,
    locate: Callable[[str, Card], dict[str, Any]],
    *,
    short: bool = False,
) -> Iterator[dict[str, Any]]:
    """An entry for each card of an organization. `locate` returns the `url` or the `data` of the card of a role.

    The empty role means the card of the organization.
    """
    for role_id in ("", *view.roles):
        card = (
            build_role_card(view, role_id, endpoint, short=short)
            if role_id
            else build_organization_card(view, endpoint, short=short)
        )
        if card is not None:
            name = f"{view.org_id}:{role_id}" if role_id else view.org_id
            yield {
                "identifier": f"urn:air:{domain}:a2a:{name}",
                "type": CARD_TYPE,
                "description": card["description"],
                "version": card["version"],
                "tags": list(dict.fromkeys(tag for skill in card["skills"] for tag in skill["tags"])),
                **locate(role_id, card),
            }
