"""Parts of a trace, for code that does not know whether tracing is enabled (see `telemetry.py`)."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

_tracer: Tracer | None = None
_NOTHING = nullcontext()


def set_tracer(tracer: Tracer | None) -> None:
    """Begin to trace in this process, or end it."""
    global _tracer  # noqa: PLW0603  one for the process, as those who open a span expect
    _tracer = tracer


def span(name: str) -> AbstractContextManager[object]:
    """A part of the current trace. Does nothing if tracing is disabled."""
    return _NOTHING if _tracer is None else _tracer.start_as_current_span(name)


def get_current_trace() -> dict[str, str]:
    """The ids of the current trace, for the log. Empty if there is none."""
    if _tracer is None:
        return {}
    from opentelemetry.trace import get_current_span

    context = get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}
