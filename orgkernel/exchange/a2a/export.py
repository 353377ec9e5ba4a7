"""Export an organization to A2A: `agent-card.json`, and `roles/ROLE/agent-card.json` for each role that can have one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from orgkernel.exchange.a2a.cards import (
    Endpoint,
    build_organization_card,
    build_placeholder,
    build_role_card,
    has_card,
)
from orgkernel.exchange.exported import ConvertedFiles, Loss
from orgkernel.exchange.marks import render_mark
from orgkernel.exchange.role_losses import find_role_losses
from orgkernel.graph.questions import OrgView

CARD_FILE = "agent-card.json"
MARK_FILE = "orgkernel-export.json"
"""Names the organization that made the cards next to this file, because a card has no field for a mark."""
TARGET = "a2a"
COVERS = (
    "names and descriptions", "domains", "intents", "skills", "instructions that a role knows", "chain of command",
    "ranks", "PACE plans",
)  # fmt: skip
EXPRESSED = frozenset(
    (
        "role_type", "chain_of_command.reports_to", "chain_of_command.authority_level", "chain_of_command.can_delegate",
        "capabilities.bst_domains", "capabilities.intents", "pace_plan", "department", "layer", "entry_rank",
    )
)  # fmt: skip
"""Fields of a profile that the card of a role contains."""
_WHY = {
    "examples": "A2A has examples for each skill; the examples of a role are in its card only if it has exactly one skill",
    "plans": "A2A has no plans",
    "what roles do not have": "A2A has no field for what an agent refuses",
}


def export_a2a(
    view: OrgView,
    endpoint: Endpoint | None = None,
    sign: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> ConvertedFiles:
    """Export the cards of an organization.

    `endpoint` is the address of its agents; `sign` adds a signature to a card.
    """
    where = build_placeholder(view.org_id) if endpoint is None else endpoint
    built = {CARD_FILE: build_organization_card(view, where)}
    for role_id in view.roles:
        built[get_role_file(role_id)] = build_role_card(view, role_id, where)
    cards = {}
    for name, card in built.items():
        if card is not None:
            cards[name] = render_card(card if sign is None else sign(card))
    mark = {"$comment": render_mark(view.org_id, TARGET), "cards": list(cards)}
    lost = tuple(_list_losses(view, endpoint is None, sign is None))
    left_out = tuple(each for each in view.roles if get_role_file(each) not in cards)
    return ConvertedFiles(
        {MARK_FILE: render_card(mark), **cards}, COVERS, lost, left_out=left_out, unmarked=frozenset(cards)
    )


def get_role_file(role_id: str) -> str:
    """The path of the card of a role."""
    return f"roles/{role_id}/{CARD_FILE}"


def render_card(card: dict[str, Any]) -> str:
    """Render a card as JSON."""
    return json.dumps(card, ensure_ascii=False, indent=2) + "\n"


def _list_losses(view: OrgView, is_nowhere: bool, is_unsigned: bool) -> Iterator[Loss]:
    profiles = [(role_id, post.profile) for role_id, post in view.records.posts.items()]
    tools = view.records.tools
    without = [
        role_id for role_id, profile in profiles if profile.description and not has_card(view, role_id)
    ]
    counted = (
        (
            f"roles without a skill: {', '.join(without[:5])}{', …' if len(without) > 5 else ''}",
            "a card requires one: a domain or an intent that the role handles, or a skill that it has",
            len(without),
        ),
        (
            "roles without a description",
            "a card requires one",
            sum(not profile.description for _, profile in profiles),
        ),
        ("tools", "a card lists what an agent can be asked for, not how the agent does it", len(tools)),
        (
            "access policies",
            "orgkernel decides who may do what, not a card",
            len(view.records.policies),
        ),
        ("agents", "a card describes a role, not the agents that fill it", len(view.records.agents)),
    )
    yield from (Loss(what, why, count) for what, why, count in counted if count)
    yield from find_role_losses(
        view, expressed=EXPRESSED, why=_WHY, otherwise="it is for the agent, not for its callers"
    )
    if is_nowhere:
        yield Loss(
            "addresses",
            "no document declares the address of the agents, so the cards use `agents.invalid`: pass the address with `--url`",
        )
    if is_unsigned:
        yield Loss("signatures", "the cards are not signed: sign them with `--sign-key`")
    yield Loss("security schemes", "no document declares how callers of the agents authenticate")
