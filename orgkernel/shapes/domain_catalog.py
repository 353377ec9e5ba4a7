"""`domain_catalog`: the task domains that work is classified into, and their aliases in other vocabularies. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.shapes.record import Document, DomainId, Id, Record


class Domain(Record, frozen=True, kw_only=True):
    """A task domain."""
    description: str = ''
    broader: DomainId | None = None
    passthrough: bool = False
    examples: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()


class DomainCatalog(Document, frozen=True, kw_only=True):
    """Task domains and aliases."""
    kind: Literal['orgkernel:domain_catalog'] = msgspec.field(default='orgkernel:domain_catalog', name='_schema')
    description: str = ''
    domains: dict[DomainId, Domain] = msgspec.field(default_factory=dict)
    aliases: dict[Id, DomainId] = msgspec.field(default_factory=dict)
    unmapped: tuple[Id, ...] = ()
