"""`standing_order`: a file of standing orders. Its place determines its audience."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from orgkernel.documents.model.record import Document

OrderAudience = Literal["federation", "organization", "department", "role", "unknown"]


class StandingOrder(Document):
    """Orders for everyone in a federation, an organization, a department or a role."""

    kind: Literal["orgkernel:standing_order"] = Field(default="orgkernel:standing_order", alias="_schema")
    audience: OrderAudience
    """The audience of the orders. `unknown` if the file name does not identify one."""
    target: str = ""
    """Id of the department or role."""
    body: str = ""
    """The orders."""
