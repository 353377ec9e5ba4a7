"""Export an organization to Cedar: `schema.cedarschema`, `policies.cedar` and `entities.json`."""

from __future__ import annotations

import json

from orgkernel.exchange.cedar.entities import build_entities
from orgkernel.exchange.cedar.layers import LAYERS
from orgkernel.exchange.cedar.losses import COVERS, find_losses
from orgkernel.exchange.cedar.schema import SCHEMA
from orgkernel.exchange.cedar.statements import render_statements
from orgkernel.exchange.export import Export
from orgkernel.graph.questions import OrgView

SCHEMA_FILE, POLICIES_FILE, ENTITIES_FILE = "schema.cedarschema", "policies.cedar", "entities.json"


def export_cedar(view: OrgView) -> Export:
    """What an organization declares about access. The same documents always give the same bytes."""
    entities = ",\n".join(
        json.dumps(entity, ensure_ascii=False, separators=(",", ":")) for entity in build_entities(view)
    )
    policies = "\n".join((LAYERS, *render_statements(view.records.policies.values())))
    files = {SCHEMA_FILE: SCHEMA, POLICIES_FILE: policies, ENTITIES_FILE: f"[\n{entities}\n]\n"}
    return Export(files, COVERS, tuple(find_losses(view.records)))
