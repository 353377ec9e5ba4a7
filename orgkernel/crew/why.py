"""Reasons for items that are not edges."""

from __future__ import annotations

from orgkernel.crew.v1 import Item
from orgkernel.decisions.reasons import Why, why_place
from orgkernel.diagnostics import Place


def why_item(item_id: str, text: str, place: Place) -> Item:
    """An item said by one line."""
    return Item(id=item_id, why=(why_place(text, place),))


def why_default(text: str, place: Place) -> Why:
    """A value nobody wrote, at the nearest line above where it would stand."""
    return why_place(f"{text}, the default holds", place)
