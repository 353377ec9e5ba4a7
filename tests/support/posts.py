"""Posts to ask rules about, made from a profile's text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from orgkernel.graph.records import RolePost
from orgkernel.loading.documents import read_documents
from orgkernel.loading.files import decode
from orgkernel.runtime.tiers import ABOVE_PRIMARY
from orgkernel.snapshots.check import build_stray_post


def post_with_triggers(texts: Sequence[str], max_turns: int) -> RolePost:
    """A post whose tiers above primary have these triggers."""
    value = {
        "_schema": "orgkernel:role_profile",
        "role_id": "asked",
        "description": "Is asked about.",
        "pace_plan": {tier: {"trigger": text} for tier, text in zip(ABOVE_PRIMARY, texts, strict=False)},
        "doctrine": {"max_turns_without_progress": max_turns, "salute_interval_turns": 1},
    }
    source = decode("asked.json", "asked.json", json.dumps(value).encode())
    (document,) = read_documents(source, named=True, has_orgkernel_siblings=True).documents
    return build_stray_post(document)
