"""Asking OPA's language what we decide too: an export, parsed once by regorus, and requests in its words."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.timing import NotMeasured
from benchmarks.worlds import IN_FILE_SCOPE
from orgkernel.decisions.access.circumstances import CIRCUMSTANCES
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.opa.export import DATA_FILE, POLICY_FILE

try:
    import regorus
except ImportError:
    regorus = None

ANSWER = "data.orgkernel.access.answer"


# An engine must be dropped by the thread that made it, and the collector of garbage may run in any thread: so they stay.
_ENGINES: list[Any] = []


class Opa:
    """An organization as OPA has it. Raises `NotMeasured` where regorus is not installed."""

    def __init__(self, export: ConvertedFiles) -> None:
        if regorus is None:
            raise NotMeasured("regorus (celine-regorus) is not installed")
        self._engine = regorus.Engine()
        _ENGINES.append(self._engine)
        self._engine.add_policy(POLICY_FILE, export.files[POLICY_FILE])
        self._engine.add_data_json(export.files[DATA_FILE])

    def decide(self, question: dict[str, Any]) -> dict[str, Any]:
        """The whole answer."""
        self._engine.set_input_json(json.dumps(question))
        said: dict[str, Any] = json.loads(self._engine.eval_rule_as_json(ANSWER))
        return said


def translate(request: AccessRequest, holds_lock: bool = False) -> dict[str, Any]:
    """A request in the words of the export. Circumstances that are not stated are left out."""
    context: dict[str, Any] = {
        key: value for key in CIRCUMSTANCES if (value := getattr(request.context, key)) is not None
    }
    context |= {"now": request.context.now, "utc_offset": request.context.utc_offset}
    if holds_lock:
        context["holds_lock"] = True
    kind, _, name = request.resource.partition(":")
    name, _, path = name.partition(":")
    if path:
        context["in_file_scope"] = f":{path}" == IN_FILE_SCOPE
    return {
        "subject": request.subject,
        "action": request.action,
        "resource": f"{kind}:{name}",
        "context": context,
    }
