"""Decide from a tool's answer whether the call failed, because hosts do not report it.

It is careful in both directions. A log that was read may be full of errors, so only the start and the end of an answer
count, and a long answer that merely ends in an error is not a failure. A neighbor that diagnoses tool output decides
first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_LONG = 30
"""From this many lines on, an answer counts as regular output, whatever it contains."""
_EDGE = 3
_FAILED = re.compile(
    r"^\s*(?:Traceback \(most recent call last\)|(?:[\w.]+\.)?\w*(?:Error|Exception)\b\s*(?::|$)|error\b|fatal:|ERROR\b|MCP Tool Exception)"
    r"|command not found|No such file or directory|[Pp]ermission denied|[Oo]peration not permitted|[Cc]onnection (?:refused|reset)"
    r"|timed out|[Tt]imeout (?:reached|expired|exceeded)|Could not resolve host|No space left on device|cannot (?:access|open|stat)\b"
    r"|^Tool '.*' not found|(?:^|\s)(?:not found|does not exist)\.?\s*$"
)


def has_failed(agent: Any, message: object) -> bool:
    """Whether the call that returned this answer failed."""
    diagnosis = agent.data.get("_error_diagnosis")
    if isinstance(diagnosis, Mapping) and diagnosis.get("error_class"):
        return True
    if not isinstance(message, str):
        return False
    lines = [line for line in message[:20_000].splitlines() if line.strip()]
    if len(lines) > _LONG:
        return bool(_FAILED.search(lines[0]))
    return any(_FAILED.search(line) for line in (*lines[:_EDGE], *lines[-_EDGE:]))
