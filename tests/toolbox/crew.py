"""A small organization whose agents use tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orgkernel import Kernel
from orgkernel.operations.permits import Permits
from orgkernel.state.store import Store
from orgkernel.toolbox import Toolbox
from orgkernel.toolbox.adapters.adapter import Adapter, Call
from orgkernel.toolbox.providers import Provider
from orgkernel.toolbox.toolbox import make_adapter
from tests.support.trees import write_tree

ORG = """
_schema: orgkernel:organization
org_id: post
hierarchy:
  chief: {subordinates: [lead]}
  lead: {subordinates: [worker, guest]}
  worker: {}
  guest: {}
"""
TOOLS = """
_schema: orgkernel:tool_catalog
tools:
  look:
    type: deterministic_function
    side_effects: read
    falls_back_to: [ask_around, peek]
  ask_around: {type: deterministic_function, side_effects: read, falls_back_to: [guess]}
  peek: {type: deterministic_function, side_effects: read}
  guess: {type: deterministic_function, side_effects: read}
  send:
    type: remote_api
    actions: {send: write}
    falls_back_to: [send_later]
  send_later: {type: remote_api, actions: {send: write}}
  mail:
    type: remote_api
    actions: {read: read, write: write, delete: full}
    falls_back_to: [send]
    credentials: [mailbox]
    input_schema: {type: object, properties: {id: {type: string}}, additionalProperties: true}
  files: {type: deterministic_function, actions: {read: read, write: write}}
  press: {type: computer_use, side_effects: write, concurrency: exclusive, lock_timeout_seconds: 60}
  vault: {type: infra_service, side_effects: destructive}
"""
ROSTER = """
_schema: orgkernel:crew_roster
org: post
agents:
  ann: {assignments: [{role: worker}]}
  bob: {assignments: [{role: worker}]}
  lea: {assignments: [{role: lead}]}
"""


def profile(role: str, kind: str, superior: str, tools: str, more: str = "") -> str:
    """A role profile."""
    return (
        f"_schema: orgkernel:role_profile\nrole_id: {role}\nrole_type: {kind}\n"
        f"chain_of_command: {{reports_to: {superior}}}\ncapabilities:\n  tools: [{tools}]\n{more}"
    )


WORKER = ", ".join(
    f"{{tool: {tool}, level: {level}}}"
    for tool, level in {
        "look": "read", "ask_around": "read", "guess": "read", "send": "write", "send_later": "write",
        "mail": "write", "files": "read", "press": "write",
    }.items()
)  # fmt: skip
FILES = {
    "org.yaml": ORG,
    "tools.yaml": TOOLS,
    "crew.yaml": ROSTER,
    "roles/chief.yaml": profile("chief", "commander", "user", "{tool: vault, level: full}"),
    "roles/lead.yaml": profile("lead", "executive", "chief", "{tool: peek, level: read}"),
    "roles/worker.yaml": profile("worker", "specialist", "lead", WORKER, "credentials: [mailbox]\n"),
    "roles/guest.yaml": profile("guest", "specialist", "lead", "{tool: mail, level: read}"),
}


def organization(folder: Path, **changed: str) -> Kernel:
    """A kernel that serves it; `changed` are texts of files by the stem of their names."""
    files = {name: changed.get(Path(name).stem, text) for name, text in FILES.items()}
    kernel = Kernel.open(write_tree(folder / "post", files))
    errors = [str(found) for found in kernel.check() if found.severity.value == "error"]
    assert errors == []
    return kernel


def toolbox(kernel: Kernel, store: Store | None = None, /, **serving: Any) -> Toolbox:
    """A toolbox; what is no provider is an option of it."""
    options = {name: serving.pop(name) for name in ("credentials", "handover", "timeout", "permit_seconds") if name in serving}  # fmt: skip
    return Toolbox(kernel, serving, store=store, **options)


def adapter(permits: Permits, tool: str, provider: Provider) -> Adapter:
    """An adapter as a toolbox makes it."""
    return make_adapter(tool, provider, permits.redeem)


def call(
    action: str,
    tool_input: bytes = b"{}",
    credentials: Mapping[str, str] | None = None,
    *,
    org: str = "post",
    subject: str = "agent:ann",
) -> Call:
    """A call of an action of several."""
    return Call(action, tool_input, org, subject, is_sole_action=True, credentials=credentials or {})


def brief(result: Any) -> list[tuple[str, str, str, str]]:
    """The steps of a result, short."""
    return [(step.kind, step.who, step.outcome, step.code) for step in result.steps]
