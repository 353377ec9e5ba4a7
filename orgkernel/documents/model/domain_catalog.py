"""`domain_catalog`: the task domains that work is classified into, and their aliases in other vocabularies."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from orgkernel.documents.model.record import Document, DomainId, Id, Record


class Domain(Record):
    """A task domain."""

    description: str = ""
    broader: DomainId | None = None
    """A broader domain. Dispatch uses it if no role handles this domain."""
    passthrough: bool = False
    """Whether the domain may have no role. A role that handles it still takes its tasks."""
    examples: tuple[str, ...] = ()
    """Example requests for the domain."""
    triggers: tuple[str, ...] = ()
    """Words and phrases that indicate the domain."""


class DomainCatalog(Document):
    """Domains, which are kinds of task, and their aliases."""

    kind: Literal["orgkernel:domain_catalog"] = Field(default="orgkernel:domain_catalog", alias="_schema")
    description: str = ""
    domains: dict[DomainId, Domain] = Field(default_factory=dict)
    aliases: dict[Id, DomainId] = Field(default_factory=dict)
    """Each alias (an id of another vocabulary) and its domain."""
    unmapped: tuple[Id, ...] = ()
    """Ids of other vocabularies that have no domain here."""
