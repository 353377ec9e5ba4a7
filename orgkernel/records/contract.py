"""What the contracts of a dispatch share: their base, times and durations. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from orgkernel.records.record import Document
WrittenTime = str
Confidence = float
Duration = float


class Contract(Document, frozen=True, kw_only=True):
    """A contract of a dispatch. It declares nothing, so it is no part of an organization, and it suppresses no finding."""
