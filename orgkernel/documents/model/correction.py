"""`correction`: a later report about a session that already has a result. It names the result and never replaces it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orgkernel.documents.model.result import SessionReport


class Correction(SessionReport):
    """A correction: a report that replaces an earlier result."""

    model_config = ConfigDict(
        json_schema_extra={
            "required": ["agent", "status", "started_at", "finished_at", "original", "reason"],
        }
    )

    kind: Literal["orgkernel:correction"] = Field(default="orgkernel:correction", alias="_schema")
    original: str | None = None
    """Id of the result that is corrected, or its session if it has no id."""
    reason: Annotated[str, Field(min_length=1)]
    """The error in the result."""
