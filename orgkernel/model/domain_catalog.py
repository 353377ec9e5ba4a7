"""`domain_catalog`: the task domains work is classified into, and other vocabularies' names for them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from orgkernel.model.record import Document, DomainId, Id, Record


class Domain(Record):
    """A task domain."""

    description: str = ""
    broader: DomainId | None = None
    """Domain that also covers this one's work, asked when no role handles this one."""
    passthrough: bool = False
    """May stay without a role; a role that handles it still wins."""
    examples: tuple[str, ...] = ()
    """Requests that belong to the domain."""
    triggers: tuple[str, ...] = ()
    """Words and phrases that point to the domain."""


class DomainCatalog(Document):
    """Task domains and aliases."""

    kind: Literal["orgkernel:domain_catalog"] = Field(default="orgkernel:domain_catalog", alias="_schema")
    description: str = ""
    domains: dict[DomainId, Domain] = Field(default_factory=dict)
    aliases: dict[Id, DomainId] = Field(default_factory=dict)
    """Another vocabulary's id to the one domain it means."""
    unmapped: tuple[Id, ...] = ()
    """Ids of other vocabularies that mean no domain here."""
