"""Export an organization to Cedar: `schema.cedarschema`, `policies.cedar` and `entities.json`, with a list of what
they leave out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from orgkernel.exchange.cedar.entities import build_entities
from orgkernel.exchange.cedar.statements import LAYERS, render_statements
from orgkernel.exchange.engine_losses import (
    WHY_ALERTS,
    WHY_APPROVALS,
    WHY_ARGUMENTS,
    WHY_COMMANDS,
    WHY_FILE_SCOPES,
    WHY_GRANTING,
    WHY_LIMITS,
    WHY_LOCKS,
    WHY_PATHS,
    list_engine_losses,
)
from orgkernel.exchange.exported import STORED_STATE, ConvertedFiles, Loss
from orgkernel.exchange.marks import render_mark
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords

TARGET = "cedar"
SCHEMA = """\
namespace OrgKernel {
  // The circumstances of a request. Every attribute is optional. One that is missing is not known: it allows nothing,
  // and forbids what it could forbid. An empty text means that there is none.
  type Circumstances = {
    channel?: String,
    peer_kind?: String,
    account?: String,
    guild?: String,
    hook_id?: String,
    event_type?: String,
    // What is recorded of the organization.
    alert?: String,
    watch?: String,
    // Minute of the local day, and whether it is Saturday or Sunday.
    minute?: Long,
    weekend?: Bool,
    // Whether the request is approved; whether the subject holds the lock of an exclusive tool.
    approved?: Bool,
    holds_lock?: Bool,
    within_limits?: Bool,
    // Whether the paths that the tool writes lie in the file scope of the subject.
    in_file_scope?: Bool,
  };

  // Roles that get a resource (`tool:ID/LEVEL`, `credential:ID`, `data:ID`), `crew`, `delegating`, `outside`, `owner`, `unknown`.
  entity Group in [Group];
  entity Department;
  entity Relationship;
  entity Tag;

  entity Role in [Group, Department] = {
    names: Set<String>,
    rank?: String,
    passed: Set<String>,
    worker: Bool,
    // Actions, `TOOL/ACTION`, that write files and are bound to a file scope.
    scoped?: Set<String>,
  };
  entity Agent in [Role] = {
    names: Set<String>,
    rank?: String,
    // Qualifications. Test results are state, so an export contains none.
    passed: Set<String>,
    worker: Bool,
    // Actions, `TOOL/ACTION`, that write files and are bound to a file scope.
    scoped?: Set<String>,
  };
  entity Person in [Group, Relationship, Tag];
  entity System in [Group];
  entity Webhook in [Group];

  entity Tool = {
    id: String,
    enabled: Bool,
    delegating: Bool,
    departments?: Set<Department>,
    restricted_to?: Set<String>,
    qualifications?: Set<String>,
    essential_for: Set<Group>,
  };
  // An action of a tool, `TOOL/ACTION`: `use` and `run` mean all of them, `lock` takes an exclusive tool.
  entity ToolAction = {
    tool: Tool,
    level: String,
    holders: Group,
    ranks?: Set<String>,
    needs_lock: Bool,
    limited: Bool,
    word: String,
  };
  entity Credential = {
    id: String,
    holders: Group,
  };
  entity Data = {
    tier: Long,
    level: Long,
    holders: Group,
  };

  action use appliesTo {
    principal: [Role, Agent, Person, System, Webhook],
    resource: [ToolAction, Credential],
    context: Circumstances,
  };
  action read appliesTo {
    principal: [Role, Agent, Person, System, Webhook],
    resource: [Data],
    context: Circumstances,
  };
}
"""


COVERS = (
    "disabled tools",
    "departments",
    "restricted_to",
    "role bindings with levels",
    "essential tools",
    "rank matrix",
    "qualifications",
    "policies that allow",
    "policies that deny",
    "policy ceilings",
    "policies that ask",
    "policy conditions",
    "fallback policies",
    "credentials",
    "data tiers",
    "position",
    "exclusive lock",
    "file scope",
)

_ALWAYS = (
    STORED_STATE,
    Loss("delegation", "the subjects on whose behalf a subject acts, the path of delegation and the envelope"),
    Loss("runs", "PACE tier, depth and number of runs: the caller of Cedar must stop such requests itself"),
    Loss("paths", "ask for `tool:ID` instead of `tool:ID:PATH`, and send `in_file_scope`"),
    Loss("handing off and escalating", "the chain of command, `handoff` and layers are not exported"),
    Loss("what decided", "Cedar names policies, but no lines of YAML, remedies or obligations, and no reason if no policy permits"),
)  # fmt: skip


_WHY = {
    "policies that annotate": "sessions, personas and modifiers have no effect in Cedar",
    "policies that ask": "Cedar has no outcome `ask`: send `approved: false`; if that is denied and `true` is allowed, the outcome is `ask`",
    "required approvals": WHY_APPROVALS,
    "policies about paths": WHY_PATHS,
    "policies about commands": WHY_COMMANDS,
    "policies about arguments": WHY_ARGUMENTS,
    "time conditions": "the caller must send `minute` and `weekend` of local time",
    "alerts and watches": WHY_ALERTS,
    "exclusive tools": WHY_LOCKS,
    "file scopes": WHY_FILE_SCOPES,
    "limits of calls": WHY_LIMITS,
    "rights to grant": WHY_GRANTING,
    "input schemas": "tool arguments are not checked",
    "senders": "the caller must resolve identities to people before it asks Cedar",
}


def find_losses(records: OrgRecords) -> Iterator[Loss]:
    """List the facts that are lost or expressed differently, then those that every export loses."""
    yield from list_engine_losses(records, _WHY)
    yield from _ALWAYS


SCHEMA_FILE, POLICIES_FILE, ENTITIES_FILE = "schema.cedarschema", "policies.cedar", "entities.json"


def export_cedar(view: OrgView) -> ConvertedFiles:
    """Export the access rules of an organization. The same documents always produce the same bytes."""
    entities = ",\n".join(
        json.dumps(entity, ensure_ascii=False, separators=(",", ":")) for entity in build_entities(view)
    )
    policies = "\n".join((LAYERS, *render_statements(view.records.policies.values())))
    mark = f"// {render_mark(view.org_id, TARGET)}\n"
    files = {SCHEMA_FILE: mark + SCHEMA, POLICIES_FILE: mark + policies, ENTITIES_FILE: f"[\n{entities}\n]\n"}
    return ConvertedFiles(
        files, COVERS, tuple(find_losses(view.records)), unmarked=frozenset({ENTITIES_FILE})
    )
