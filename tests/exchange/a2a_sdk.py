"""A2A's own SDK and the registry's own schemas, asked in an environment of their own: one JSON question a line on stdin,
one answer a line on stdout. `checkers.py` starts it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import httpx
from a2a.client.card_resolver import A2ACardResolver
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.proto_utils import validate_proto_required_fields
from a2a.utils.signing import _canonicalize_agent_card, create_signature_verifier
from google.protobuf.json_format import ParseDict
from jwt import PyJWK


def check_card(card: dict[str, Any]) -> str:
    """Strictly: unknown fields are refused. Gives the bytes that are signed."""
    parsed = ParseDict(card, AgentCard())
    validate_proto_required_fields(parsed)
    return _canonicalize_agent_card(parsed)


def verifier(keys: dict[str, Any]) -> Any:
    """A verifier that knows pinned keys, and never looks at an address in a signature."""
    pinned = {key["kid"]: PyJWK(key) for key in keys["keys"]}

    def find(kid: str | None, jku: str | None) -> Any:
        if kid not in pinned:
            raise KeyError(f"the key {kid} is not pinned")
        return pinned[kid]

    return create_signature_verifier(find, ["ES256"])


def verify(card: dict[str, Any], keys: dict[str, Any]) -> str:
    """Verify a card with pinned keys."""
    verifier(keys)(ParseDict(card, AgentCard()))
    return "verified"


async def resolve(base: str, path: str, keys: dict[str, Any], headers: dict[str, str]) -> str:
    """Fetch a card as a client does, and verify it with pinned keys."""
    async with httpx.AsyncClient(headers=headers) as client:
        resolver = A2ACardResolver(client, base, path or "/.well-known/agent-card.json")
        card = await resolver.get_agent_card(signature_verifier=verifier(keys))
    return str(card.name)


def answer(question: dict[str, Any]) -> str:
    """The answer to one question."""
    ask = question.pop("ask")
    if ask == "resolve":
        return asyncio.run(resolve(**question))
    return {"check": check_card, "verify": verify, "server": check_server}[ask](**question)


def check_server(document: dict[str, Any]) -> str:
    """A `server.json` against the official schema, which skillsaw carries."""
    from importlib.resources import files

    from jsonschema import Draft7Validator

    text = (files("skillsaw") / "schemas/mcp_registry/v2025_12_11/server.schema.json").read_text("utf-8")
    Draft7Validator(json.loads(text)).validate(document)
    return "valid"


def main() -> None:
    """Answer until stdin ends."""
    for line in sys.stdin:
        try:
            said = {"answer": answer(json.loads(line))}
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), flush=True)


main()
