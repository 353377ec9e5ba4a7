"""Ladders shared by several kinds: tool levels, side effects and skill proficiency. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
ToolLevel = Literal['none', 'observe', 'read', 'write', 'full']
SideEffects = Literal['none', 'read', 'write', 'destructive']
Proficiency = Annotated[int, msgspec.Meta(ge=1, le=7)]
LEVELS: tuple[ToolLevel, ...] = ('none', 'observe', 'read', 'write', 'full')
LETTERS: dict[ToolLevel, str] = {'none': '---', 'observe': 'O--', 'read': 'OR-', 'write': 'ORW', 'full': 'ORWD'}
LEVEL_OF_SIDE_EFFECTS: dict[SideEffects, ToolLevel] = {'none': 'read', 'read': 'read', 'write': 'write', 'destructive': 'full'}
