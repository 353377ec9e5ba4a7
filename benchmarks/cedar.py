"""Asking Cedar what we decide too: an export, parsed once, and requests in its words."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.timing import NotMeasured
from benchmarks.worlds import IN_FILE_SCOPE
from orgkernel.decisions.access.circumstances import CIRCUMSTANCES
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.exchange.cedar.export import ENTITIES_FILE, POLICIES_FILE, SCHEMA_FILE
from orgkernel.exchange.exported import ConvertedFiles

try:
    import cedarpy
except ImportError:
    cedarpy = None

_KINDS = {
    "role": "Role", "agent": "Agent", "person": "Person", "system": "System", "webhook": "Webhook", "tool": "ToolAction",
    "credential": "Credential", "data": "Data",
}  # fmt: skip


class Cedar:
    """An organization as Cedar has it. Raises `NotMeasured` where cedarpy is not installed."""

    def __init__(self, export: ConvertedFiles) -> None:
        if cedarpy is None:
            raise NotMeasured("cedarpy is not installed")
        self.text = export.files[POLICIES_FILE]
        checked = cedarpy.validate_policies(self.text, export.files[SCHEMA_FILE])
        assert checked.validation_passed, [str(error) for error in checked.errors]
        self._entities = cedarpy.Entities.from_json_str(
            export.files[ENTITIES_FILE], export.files[SCHEMA_FILE]
        )
        self.policies = parse(self.text)
        self._constant = parse("permit (principal, action, resource);")
        self._nothing = cedarpy.Entities.from_json_str("[]")

    def without(self, unwanted: Callable[[str], bool]) -> Any:
        """The policies but those of an `@id` that is not wanted, parsed."""
        kept = [part for part in split(self.text) if not unwanted(part[0])]
        return parse("\n".join(text for _, text in kept))

    def decide(self, request: dict[str, Any], policies: Any = None) -> tuple[str, tuple[str, ...]]:
        """Outcome and the `@id`s of what decided; `ask` is what is denied, and allowed once it is approved."""
        first = self.allows(request, policies)
        if first.allowed:
            return "allow", _ids(first)
        approved = {**request, "context": {**request["context"], "approved": True}}
        return ("ask" if self.allows(approved, policies).allowed else "deny"), _ids(first)

    def allows(self, request: dict[str, Any], policies: Any = None) -> Any:
        """Cedar's own answer."""
        return cedarpy.is_authorized(request, policies or self.policies, self._entities)

    def allow_all(self, requests: list[dict[str, Any]]) -> list[bool]:
        """Which of many requests Cedar allows, in one call."""
        return [
            answer.allowed for answer in cedarpy.is_authorized_batch(requests, self.policies, self._entities)
        ]

    def constant(self, request: dict[str, Any]) -> Any:
        """The answer of one policy that allows everything, without data: what calling Cedar costs anyway."""
        return cedarpy.is_authorized(request, self._constant, self._nothing)


def parse(policies: str) -> Any:
    """Policies as Cedar holds them."""
    return cedarpy.PolicySet.from_str(policies)


def split(policies: str) -> list[tuple[str, str]]:
    """Every policy of an export with its `@id`."""
    found = []
    for part in policies.split("@id(")[1:]:
        name = json.loads(part.partition(")\n")[0])
        found.append((name, f"@id({part.partition('//')[0]}"))
    return found


def translate(request: AccessRequest, holds_lock: bool = False) -> dict[str, Any]:
    """A request in Cedar's words. Circumstances that are not stated are left out."""
    kind, _, name = request.resource.partition(":")
    context: dict[str, Any] = {
        key: value for key in CIRCUMSTANCES if (value := getattr(request.context, key)) is not None
    }
    local = datetime.fromtimestamp(request.context.now, UTC) + timedelta(seconds=request.context.utc_offset)
    context |= {"minute": local.hour * 60 + local.minute, "weekend": local.weekday() >= 5}
    if holds_lock:
        context["holds_lock"] = True
    name, _, path = name.partition(":")
    if path:
        context["in_file_scope"] = f":{path}" == IN_FILE_SCOPE
    action = "read" if kind == "data" else "use"
    if kind == "tool":
        name = f"{name}/{request.action}"
    elif request.action != action:
        action = request.action
    return {
        "principal": _uid(request.subject),
        "action": {"type": "OrgKernel::Action", "id": action},
        "resource": _uid(f"{kind}:{name}"),
        "context": context,
    }


def _uid(word: str) -> dict[str, str]:
    kind, _, name = word.partition(":")
    return {"type": f"OrgKernel::{_KINDS[kind]}", "id": name}


def _ids(answer: Any) -> tuple[str, ...]:
    return tuple(sorted(answer.diagnostics.id_annotations_by_reason.values()))
