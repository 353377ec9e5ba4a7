"""Ladders shared by several kinds: tool levels, side effects and skill proficiency."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

ToolLevel = Literal["none", "observe", "read", "write", "full"]
SideEffects = Literal["none", "read", "write", "destructive"]
Proficiency = Annotated[int, Field(ge=1, le=7)]

# Each level includes the lower ones.
LEVELS: tuple[ToolLevel, ...] = ("none", "observe", "read", "write", "full")
LETTERS: dict[ToolLevel, str] = {
    "none": "---",
    "observe": "O--",
    "read": "OR-",
    "write": "ORW",
    "full": "ORWD",
}

# A tool without actions has the action `use`, whose level follows from its side effects.
LEVEL_OF_SIDE_EFFECTS: dict[SideEffects, ToolLevel] = {
    "none": "read",
    "read": "read",
    "write": "write",
    "destructive": "full",
}
