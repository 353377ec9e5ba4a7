"""The published JSON Schemas: one for each kind of document, and one for the manifest."""

from __future__ import annotations

import json
from typing import Any

from orgkernel.manifest.v1 import build_manifest_schema
from orgkernel.model.json_schema import build_json_schema
from orgkernel.model.kinds import KINDS


def build_schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schema of each kind."""
    return {**{kind: build_json_schema(kind) for kind in KINDS}, "crew_manifest": build_manifest_schema()}


def render_schema(schema: dict[str, Any]) -> str:
    """The text of a schema, as checked in."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
