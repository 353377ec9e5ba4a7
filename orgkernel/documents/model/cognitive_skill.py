"""`cognitive_skill`: the front matter and the text of a SKILL.md, as the Agent Skills standard defines them.

Rules check the standard's requirements on lengths, names and metadata, so each violation has its own message.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from orgkernel.documents.model.record import Document


class CognitiveSkill(Document):
    """A skill that is written as instructions."""

    kind: Literal["orgkernel:cognitive_skill"] = Field(default="orgkernel:cognitive_skill", alias="_schema")
    name: str
    """Name of the skill, and of its folder."""
    description: str
    """Purpose of the skill, and when to use it."""
    license: str = ""
    compatibility: str = ""
    """Requirements of the skill on its environment."""
    metadata: dict[str, str] = Field(default_factory=dict)
    """Further values. Keys that start with `orgkernel-` restrict who has the skill, and list its intents."""
    allowed_tools: str = Field(default="", alias="allowed-tools")
    """Tools that the author expects to be allowed. Access never depends on it."""
    body: str = ""
    """The instructions."""
