"""Reads an agent card with the SDK of A2A. A card whose required fields are missing does not count."""

from __future__ import annotations

import json
from pathlib import Path

from a2a.client.card_resolver import parse_agent_card
from a2a.utils.proto_utils import validate_proto_required_fields
from lines import Agents, serve


def load(folder: Path) -> Agents:
    """The agent of the card."""
    card = parse_agent_card(json.loads((folder / ".well-known" / "agent-card.json").read_text("utf-8-sig")))
    validate_proto_required_fields(card)
    return {card.name: {}}


serve(load)
