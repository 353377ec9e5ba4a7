"""`standing_order`: a file of standing orders. Its place says for whom it is."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from orgkernel.documents.model.record import Document

OrderAudience = Literal["federation", "organization", "department", "role", "unknown"]


class StandingOrder(Document):
    """Orders for everybody in a federation, an organization, a department or a role."""

    kind: Literal["orgkernel:standing_order"] = Field(default="orgkernel:standing_order", alias="_schema")
    audience: OrderAudience
    """For whom the orders are; `unknown` where the name of the file says nothing."""
    target: str = ""
    """Id of the department or role."""
    body: str = ""
    """The orders."""
