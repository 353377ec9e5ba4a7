"""Agent cards (A2A 1.0), their catalog, and the keys that verify them.

A short card shows that an agent exists and what it can be asked for. A caller that may read the organization also
gets the extended card, with the chain of command, the rank and the PACE plan. An address has the same answer for
every caller.
"""

from __future__ import annotations

import time
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.agent_cards import CARD, CATALOG, KEYS, AgentCards
from manifest_api.answering import SNAPSHOT, AnswersOfApp
from manifest_api.guards.caller import VISITOR, get_caller
from manifest_api.problems import NO_CARD, NO_CARDS, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, Org, Role
from manifest_api.routes.documented import declare_responses
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import OrgkernelError, UnknownRole
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.names import ACTIVE
from orgkernel.manifest.v1 import encode

router = APIRouter(tags=["cards"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])


class AgentCard(msgspec.Struct, frozen=True, kw_only=True):
    """An agent card of A2A 1.0."""

    name: str
    description: str
    version: str
    supportedInterfaces: tuple[dict[str, str], ...]
    """Address of the agent. The tenant is the id of the role."""
    capabilities: dict[str, Any]
    """The extended card has extensions here: chain of command, rank, PACE plan."""
    defaultInputModes: tuple[str, ...]
    defaultOutputModes: tuple[str, ...]
    skills: tuple[dict[str, Any], ...]
    signatures: tuple[dict[str, str], ...] = ()
    """JWS (ES256) over the canonical card."""


class AiCatalog(msgspec.Struct, frozen=True, kw_only=True):
    """An index of cards. Experimental: its format is not finished."""

    specVersion: str
    host: dict[str, str]
    entries: tuple[dict[str, Any], ...]


class KeySet(msgspec.Struct, frozen=True, kw_only=True):
    """Public keys (RFC 7517)."""

    keys: tuple[dict[str, str], ...]


_CARD = declare_responses(AgentCard, 404, 409, 503, org=True)


@router.get(CARD, responses=_CARD)
async def get_well_known_card(request: Request, answers: AnswersOfApp) -> Response:
    """Get the short card of the active organization, where A2A clients look for it."""
    return await _build_card_response(request, answers, ACTIVE, "", short=True)


@router.get("/v1/orgs/{org}/agent-card.json", responses=_CARD)
async def get_organization_card(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Get the short card of an organization."""
    return await _build_card_response(request, answers, org, "", short=True)


@router.get("/v1/orgs/{org}/roles/{role}/agent-card.json", responses=_CARD)
async def get_role_card(request: Request, answers: AnswersOfApp, org: Org, role: Role) -> Response:
    """Get the short card of a role."""
    return await _build_card_response(request, answers, org, role, short=True)


@router.get("/v1/orgs/{org}/extended-agent-card.json", responses=_CARD)
async def get_extended_organization_card(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Get the card of an organization with all documented facts. It is never public."""
    return await _build_card_response(request, answers, org, "", short=False)


@router.get("/v1/orgs/{org}/roles/{role}/extended-agent-card.json", responses=_CARD)
async def get_extended_role_card(request: Request, answers: AnswersOfApp, org: Org, role: Role) -> Response:
    """Get the card of a role with its chain of command, rank and PACE plan. It is never public."""
    return await _build_card_response(request, answers, org, role, short=False)


@router.get(CATALOG, responses=declare_responses(AiCatalog, 404))
async def get_ai_catalog(request: Request, answers: AnswersOfApp) -> Response:
    """List the short cards of all served organizations (AI Catalog, experimental)."""
    cards = _get_cards(request)
    return await answers.respond(request, cards.catalog)


@router.get(KEYS, responses=declare_responses(KeySet, 404))
async def get_card_keys(request: Request, answers: AnswersOfApp) -> Response:
    """List the public keys that verify signed cards: the current one, and former ones for a while."""
    keys = _get_cards(request).keys
    if keys is None:
        raise RequestRefused(NO_CARDS, "cards are not signed", "set `sign_key` in `[a2a]` of orgkernel.toml")
    # It changes with the clock and with a file, so it is not cached by the version of the documents.
    headers = {SNAPSHOT: answers.kernel.state.latest.digest}
    return answers.respond_with(
        request, encode(keys.published(time.time())), "application/json", headers, None
    )


async def _build_card_response(
    request: Request, answers: AnswersOfApp, org: str, role: str, *, short: bool
) -> Response:
    cards = _get_cards(request)

    def ask(kernel: Kernel) -> bytes:
        view = kernel.organization(org).snapshot.index
        if role and not view.is_role(role):
            raise UnknownRole(f"there is no role {quote(role)}", "`GET /v1/orgs/{org}` lists the roles")
        card = cards.card(view, role, short=short)
        if card is None:
            raise RequestRefused(
                NO_CARD,
                f"{f'the role {quote(role)}' if role else 'the organization'} has no card",
                "a card needs a description, and a domain, an intent or a skill",
            )
        return encode(card)

    try:
        card_answer = await answers.find(ask, org)
    except (OrgkernelError, RequestRefused):
        if get_caller(request) is not VISITOR:
            raise
        # A visitor does not learn about other cards, or why a card is missing.
        raise RequestRefused(NO_CARD, "there is no card here", "ask the operator of the server") from None
    headers = {SNAPSHOT: card_answer.snapshot, **answers.stale(card_answer.stale)}
    # A new key signs at once, so a signed card is not cached by the version of the documents.
    version = card_answer.answer_version if cards.keys is None else None
    return answers.respond_with(request, card_answer.body, "application/json", headers, version)


def _get_cards(request: Request) -> AgentCards:
    cards: AgentCards | None = request.app.state.agent_cards
    if cards is None:
        raise RequestRefused(
            NO_CARDS,
            NO_CARDS.sentence,
            "set `url` and `public_url` in `[a2a]` of orgkernel.toml",
        )
    return cards
