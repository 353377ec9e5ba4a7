"""`cognitive_skill`: the front matter and the text of a SKILL.md, as the Agent Skills standard defines them. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.shapes.record import Document


class CognitiveSkill(Document, frozen=True, kw_only=True):
    """A skill that is written as instructions."""
    kind: Literal['orgkernel:cognitive_skill'] = msgspec.field(default='orgkernel:cognitive_skill', name='_schema')
    name: str
    description: str
    license: str = ''
    compatibility: str = ''
    metadata: dict[str, str] = msgspec.field(default_factory=dict)
    allowed_tools: str = msgspec.field(default='', name='allowed-tools')
    body: str = ''
