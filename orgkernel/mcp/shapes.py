"""The arguments and the answers of the tools.

Their JSON Schemas are generated from these types without docstrings, because every agent reads every word of an
argument schema in every turn.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.dispatch.task_state import PreviousTask
from orgkernel.decisions.evidence.state_view import PaceTierName
from orgkernel.decisions.reasons import Reason
from orgkernel.documents.records import ToolLevel
from orgkernel.operations.permissions import Name
from orgkernel.operations.reports.board import RoleState

FreeText = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
FilePaths = Annotated[tuple[Name, ...], msgspec.Meta(max_length=100)]
ResourceWords = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=2_000,
        description="tool:ID, tool:ID:PATH, credential:ID, data:TIER or role:ID",
    ),
]
RunCircumstances = Annotated[
    dict[str, Any],
    msgspec.Meta(description="circumstances: channel, session, pace, input, …"),
]


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of a tool. None of them names the caller."""


class NoArguments(Arguments, frozen=True, kw_only=True):
    """No arguments."""


class WhatCanArguments(Arguments, frozen=True, kw_only=True):
    """Filters of the list."""

    kind: Literal["tool", "credential", "data", "role"] = "tool"


class CanArguments(Arguments, frozen=True, kw_only=True):
    """A use that is planned."""

    resource: ResourceWords
    action: Annotated[Name, msgspec.Meta(description="`use` is every action of a tool")] = "use"
    paths: Annotated[FilePaths, msgspec.Meta(description="files that a tool would touch")] = ()
    context: RunCircumstances = {}


class WhoCanArguments(Arguments, frozen=True, kw_only=True):
    """A use by any subject."""

    resource: ResourceWords
    action: Name = "use"


class DispatchArguments(Arguments, frozen=True, kw_only=True):
    """Work to dispatch: exactly one of a task in words, a domain or an intent."""

    task: FreeText | None = None
    domain: Name | None = None
    intent: Name | None = None
    needs: Annotated[tuple[Name, ...], msgspec.Meta(max_length=20, description="tools")] = ()
    context: dict[str, Any] = {}
    """For a follow-up: `{previous: …}` with the `work` of the last answer."""


class RequestArguments(Arguments, frozen=True, kw_only=True):
    """A requested permission."""

    resource: ResourceWords
    reason: Annotated[FreeText, msgspec.Meta(description="why, for who decides")]
    action: Annotated[Name | None, msgspec.Meta(description="only this action")] = None
    level: Literal["observe", "read", "write", "full"] | None = None


class ReportArguments(Arguments, frozen=True, kw_only=True):
    """The current work and its progress."""

    task: Annotated[str, msgspec.Meta(max_length=4_000)] = ""
    state: RoleState | None = None
    tier: PaceTierName = "primary"
    plan: Annotated[str, msgspec.Meta(max_length=200)] = ""
    steps: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    steps_done: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    failures: Annotated[int, msgspec.Meta(ge=0, le=100_000, description="in a row")] = 0
    files_modified: FilePaths = ()
    role: Annotated[Name | None, msgspec.Meta(description="one of yours, if you fill several")] = None


DocumentValue = Annotated[
    dict[str, Any] | str, msgspec.Meta(description="an object, or a string with YAML or JSON")
]
SubtaskNames = Annotated[tuple[Name, ...], msgspec.Meta(max_length=500)]


class HandOffArguments(Arguments, frozen=True, kw_only=True):
    """Work that is to be handed down."""

    to: Annotated[Name, msgspec.Meta(description="a role or a layer")]
    brief: dict[str, Any] | str | None = None
    parent_brief: dict[str, Any] | str | None = None
    depth: Annotated[int, msgspec.Meta(ge=0, le=100, description="hand-offs above you")] | None = None


class MayStartArguments(Arguments, frozen=True, kw_only=True):
    """A plan of subtasks, and what is known about them."""

    plan: DocumentValue
    done: SubtaskNames = ()
    running: SubtaskNames = ()


class ContractArguments(Arguments, frozen=True, kw_only=True):
    """A contract to store."""

    contract: DocumentValue


class ToolAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer of a tool."""


class Me(ToolAnswer, frozen=True, kw_only=True):
    """The subject, and its place in the organization."""

    subject: str
    name: str = ""
    description: str = ""
    organization: str
    roles: tuple[str, ...] = ()
    reports_to: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    rank: str = ""
    lifecycle: str = ""
    tier: str = ""
    manifests: tuple[str, ...] = ()
    """Resources with everything."""
    snapshot: str


class ResourcePermission(ToolAnswer, frozen=True, kw_only=True):
    """The permitted actions on a resource."""

    resource: str
    level: str
    allowed: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    """Actions that need an approval first."""
    conditional: tuple[str, ...] = ()
    """Actions that depend on a circumstance."""
    depends_on: tuple[str, ...] = ()


class PermissionList(ToolAnswer, frozen=True, kw_only=True):
    """All permitted actions."""

    can: tuple[ResourcePermission, ...]
    more: int = 0
    """Resources that are not listed."""
    snapshot: str
    state_version: int = 0


class PathAnswer(ToolAnswer, frozen=True, kw_only=True):
    """The decision about one path."""

    path: str
    outcome: Outcome
    code: str


class CanAnswer(ToolAnswer, frozen=True, kw_only=True):
    """A decision. Only `allow` permits."""

    outcome: Outcome
    code: str
    codes: tuple[str, ...]
    reasons: tuple[Reason, ...]
    level_required: str = ""
    level_effective: str = ""
    obligations: tuple[str, ...] = ()
    paths: tuple[PathAnswer, ...] = ()
    smallest_changes: tuple[str, ...] = ()
    who_can_grant: tuple[str, ...] = ()
    who_can: tuple[str, ...] = ()
    snapshot: str
    state_version: int = 0
    audit: str = ""


class AccessLayerStep(ToolAnswer, frozen=True, kw_only=True):
    """The effect of one access layer on the decision."""

    access_layer: str
    statement: str
    change: str = ""
    lines: tuple[str, ...] = ()


class WhyAnswer(ToolAnswer, frozen=True, kw_only=True):
    """A decision, access layer by access layer."""

    outcome: Outcome
    codes: tuple[str, ...]
    reasons: tuple[Reason, ...]
    access_layers: tuple[AccessLayerStep, ...]
    smallest_changes: tuple[str, ...] = ()
    who_can_grant: tuple[str, ...] = ()
    who_can: tuple[str, ...] = ()
    snapshot: str
    state_version: int = 0


class WhoCanAnswer(ToolAnswer, frozen=True, kw_only=True):
    """The subjects that may, that need an approval, and for which it depends on circumstances."""

    allow: tuple[str, ...]
    ask: tuple[str, ...] = ()
    conditional: tuple[str, ...] = ()
    more: int = 0
    snapshot: str
    state_version: int = 0


class DispatchAnswer(ToolAnswer, frozen=True, kw_only=True):
    """The role that takes the work. Nothing was handed over."""

    outcome: Literal["role", "not_applicable"]
    role: str = ""
    name: str = ""
    agents: tuple[str, ...] = ()
    acting_role: str = ""
    unavailable: tuple[str, ...] = ()
    you_may_hand_off: Outcome | None = None
    plans: tuple[str, ...] = ()
    reasons: tuple[str, ...]
    considered: tuple[str, ...] = ()
    snapshot: str
    work: PreviousTask | None = None
    """After a follow-up: the `context.previous` of the next question."""


class RequestAnswer(ToolAnswer, frozen=True, kw_only=True):
    """A request, and who can answer it."""

    request_id: str
    status: str
    resource: str
    level: ToolLevel
    expires_at: str = ""
    who_can_grant: tuple[str, ...] = ()


class HandOffProblem(ToolAnswer, frozen=True, kw_only=True):
    """A step that fails."""

    step: str
    code: str
    text: str
    remedies: tuple[str, ...] = ()


class HandOffAnswer(ToolAnswer, frozen=True, kw_only=True):
    """Whether work may be handed down. Nothing was recorded."""

    outcome: Literal["allow", "deny", "cannot_tell"]
    code: str
    receiver: str
    problems: tuple[HandOffProblem, ...] = ()
    obligations: tuple[str, ...] = ()
    session: str = ""
    queue_mode: str = ""
    snapshot: str
    state_version: int = 0


class SubtaskTaker(msgspec.Struct, frozen=True, kw_only=True):
    """The role and the agent that take a subtask."""

    subtask: str
    role: str
    agent: str | None
    acting_role: str | None


class MayStartAnswer(ToolAnswer, frozen=True, kw_only=True):
    """The subtasks that may start now, and the batches of those that remain."""

    outcome: Literal["planned", "refused", "cannot_tell"]
    start: tuple[str, ...] = ()
    takers: tuple[SubtaskTaker, ...] = ()
    waiting: tuple[str, ...] = ()
    batches: tuple[tuple[str, ...], ...] = ()
    problems: tuple[str, ...] = ()


class ContractReply(ToolAnswer, frozen=True, kw_only=True):
    """The contract was stored."""

    id: str
    kind: str
    number: int
    session: str = ""


class ReportAnswer(ToolAnswer, frozen=True, kw_only=True):
    """The report was stored."""

    outcome: Literal["stored", "known", "expired"]
    role: str
    state: str
    tier: str
    health: str


_UNSAID = ("title", "minLength", "maxLength", "maxItems", "minimum", "maximum")
"""Keywords that cost tokens in every turn and that a refusal repeats."""


def build_schema(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of an answer: an object at the root, without titles and docstrings of types."""
    _, definitions = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    for each in definitions.values():
        each.pop("title", None)
        each.pop("description", None)
    root: dict[str, Any] = definitions.pop(shape.__name__)
    return {**root, "$defs": definitions} if definitions else root


def build_arguments_schema(shape: type[Arguments]) -> dict[str, Any]:
    """The JSON Schema of arguments, in as few words as possible. Optional fields can be left out or be null."""
    schema = build_schema(shape)
    properties = {name: _shorten_schema(each) for name, each in schema["properties"].items()}
    required = {"required": schema["required"]} if schema["required"] else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _shorten_schema(schema: dict[str, Any]) -> dict[str, Any]:
    short_schema = {name: each for name, each in schema.items() if name not in _UNSAID}
    if not short_schema.get("default", True):
        del short_schema["default"]
    if "anyOf" in short_schema:
        short_schema |= next(each for each in short_schema.pop("anyOf") if each.get("type") != "null")
        return _shorten_schema(short_schema)
    if "items" in short_schema:
        short_schema["items"] = _shorten_schema(short_schema["items"])
    return short_schema
