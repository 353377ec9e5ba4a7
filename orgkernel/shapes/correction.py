"""`correction`: a later report about a session whose result is already there. It names the result and never replaces it. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
from orgkernel.shapes.result import SessionReport


class Correction(SessionReport, frozen=True, kw_only=True):
    """One correction."""
    kind: Literal['orgkernel:correction'] = msgspec.field(default='orgkernel:correction', name='_schema')
    original: str | None = None
    reason: Annotated[str, msgspec.Meta(min_length=1)]
