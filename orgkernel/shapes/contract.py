"""What the contracts of a dispatch share: their base, times and durations. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated
import msgspec
from orgkernel.shapes.record import Document
WrittenTime = Annotated[str, msgspec.Meta(pattern='^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T| )([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]|:[0-5][0-9][.][0-9]{1,9})?(Z|(-|[+])([01][0-9]|2[0-3]):?[0-5][0-9])?\\Z')]
Confidence = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Duration = Annotated[float, msgspec.Meta(ge=0.0)]


class Contract(Document, frozen=True, kw_only=True):
    """A contract of a dispatch. It declares nothing, so it is no part of an organization, and it suppresses no finding."""
