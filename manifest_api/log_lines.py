"""Format log lines as text or JSON, for the server log and the access log.

Each line that is written while a request is answered names the request and the credential of its caller. Strings
from clients cannot add lines, and secrets are masked.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from manifest_api.access_log import Access
from manifest_api.current_request import REQUEST_ID, find_current
from manifest_api.guards.caller import get_caller_name
from manifest_api.spans import get_current_trace
from orgkernel.diagnostics.wording import clean
from orgkernel.runtime.secret_shapes import mask_secrets

LogFormat = Literal["text", "json"]
_MAX_ID_LENGTH = 500


def log_to_stderr(log_format: LogFormat) -> None:
    """Write all logs of this process to stderr in one format."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if log_format == "json" else TextLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.captureWarnings(True)


class TextLines(logging.Formatter):
    """Lines for people: time, level, message, and the request."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Format the line, followed by the traceback of an exception on separate lines."""
        return mask_secrets(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line before the traceback."""
        about = "".join(f" {name}={value}" for name, value in _describe_request().items())
        return super().formatMessage(record) + about


class JsonLines(logging.Formatter):
    """Lines for programs: a JSON object for each record, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        access = record.args[0] if isinstance(record.args, tuple) and len(record.args) == 1 else None
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": mask_secrets(record.getMessage()),
            **_describe_request(),
            **get_current_trace(),
        }
        if isinstance(access, Access):
            line |= msgspec.structs.asdict(access)
        if record.exc_info:
            line["exception"] = mask_secrets(self.formatException(record.exc_info))
        return json.dumps(line)


def _describe_request() -> dict[str, str]:
    """The request that is being answered and its caller. Empty outside a request."""
    scope = find_current()
    if scope is None:
        return {}
    request_id: bytes = scope.get(REQUEST_ID, b"")
    # A guard has identified the caller, but the subject of a token is a foreign string.
    return {
        "request": clean(request_id[:_MAX_ID_LENGTH].decode("latin-1")),
        "caller": clean(get_caller_name(scope)),
    }
