"""What the contracts of a hand-off share: their base, times and durations."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from orgkernel.documents.model.record import Document

WrittenTime = Annotated[
    str,
    StringConstraints(
        pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T| )([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]|:[0-5][0-9][.][0-9]{1,9})?(Z|(-|[+])([01][0-9]|2[0-3]):?[0-5][0-9])?$"
    ),
]
"""ISO 8601, with or without seconds and zone."""
Confidence = Annotated[float, Field(ge=0.0, le=1.0)]
Duration = Annotated[float, Field(ge=0.0)]


class Contract(Document):
    """A contract of a hand-off. It declares nothing, so it is not part of an organization, and it cannot suppress
    findings.
    """
