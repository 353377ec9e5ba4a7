"""`standing_order`: a file of standing orders. Its place says for whom it is. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.record import Document
OrderScope = Literal['federation', 'organization', 'department', 'role', 'unknown']


class StandingOrder(Document, frozen=True, kw_only=True):
    """Orders for everybody in a federation, an organization, a department or a role."""
    kind: Literal['orgkernel:standing_order'] = msgspec.field(default='orgkernel:standing_order', name='_schema')
    scope: OrderScope
    target: str = ''
    body: str = ''
