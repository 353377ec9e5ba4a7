"""Export an organization to OPA: `data.json` and `policy.rego`, with a list of what they leave out."""

from __future__ import annotations

import json
from pathlib import Path

from orgkernel.exchange.engine_losses import (
    WHY_ALERTS,
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
from orgkernel.exchange.opa.data import build_data
from orgkernel.graph.questions import OrgView

TARGET = "opa"
POLICY_FILE, DATA_FILE = "policy.rego", "data.json"
POLICY = Path(__file__).with_name("policy.rego")
"""The access layers as rules over the data of an organization, the same for every organization."""
COVERS = (
    "disabled tools", "departments", "restricted_to", "role bindings with levels", "essential tools", "rank matrix",
    "qualifications", "policies that allow", "policies that deny", "policy ceilings", "policies that ask",
    "policy conditions", "circumstances that are not stated", "fallback policies", "credentials", "data tiers",
    "position", "exclusive lock", "file scope",
)  # fmt: skip
"""The parts of an access decision that the policy decides as orgkernel does."""
_ALWAYS = (
    STORED_STATE,
    Loss("delegation", "a question with `on_behalf_of`, `via` or `envelope` is `undecided`"),
    Loss("runs", "a question with a PACE tier, a session, a depth or a number of runs is `undecided`"),
    Loss("paths", "`tool:ID:PATH` is `undecided`: ask for `tool:ID`, and send `in_file_scope`"),
    Loss("handing off and escalating", "a question about a role is `undecided`: the chain of command is not exported"),
    Loss("what decided", "codes, but no lines of YAML, remedies or obligations, and no name of a policy"),
)  # fmt: skip


_WHY = {  # what the policy treats differently, if the organization declares it
    "policies that annotate": "sessions, personas and modifiers have no effect in the policy",
    "required approvals": "the policy answers `ask`, and the caller must count the approvers",
    "policies about paths": WHY_PATHS,
    "policies about commands": WHY_COMMANDS,
    "policies about arguments": WHY_ARGUMENTS,
    "alerts and watches": WHY_ALERTS,
    "exclusive tools": WHY_LOCKS,
    "file scopes": WHY_FILE_SCOPES,
    "limits of calls": WHY_LIMITS,
    "rights to grant": WHY_GRANTING,
    "input schemas": "a question with the arguments of a tool is `undecided`; without them, they are not checked",
    "senders": "a question about `sender:…` is `undecided`: resolve identities to people before",
}


def export_opa(view: OrgView) -> ConvertedFiles:
    """Export the access rules of an organization. The same documents always produce the same bytes."""
    mark = render_mark(view.org_id, TARGET)
    data = json.dumps({"$comment": mark, "organization": build_data(view)}, ensure_ascii=False, indent=1)
    policy = POLICY.read_text(encoding="utf-8")
    return ConvertedFiles(
        {POLICY_FILE: f"# {mark}\n{policy}", DATA_FILE: f"{data}\n"},
        COVERS,
        (*list_engine_losses(view.records, _WHY), *_ALWAYS),
    )
