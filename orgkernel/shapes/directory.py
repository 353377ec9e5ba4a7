"""`directory`: people, system origins and webhooks. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
from orgkernel.shapes.record import Document, Id, OriginId, PersonId, Record, WebhookId
Relationship = Literal['owner', 'partner', 'family', 'friend', 'work']
BUILT_IN_ORIGINS = ('cron', 'runtime', 'boot', 'restart', 'node', 'clock')


class Identity(Record, frozen=True, kw_only=True):
    """A person's identity on a platform."""
    platform: Id
    space: str | None = None
    id: Annotated[str, msgspec.Meta(min_length=1)]


class Person(Record, frozen=True, kw_only=True):
    """A person who talks to the organization."""
    name: str = ''
    relationship: Relationship | None = None
    tags: tuple[Id, ...] = ()
    identities: tuple[Identity, ...] = ()


class SystemOrigin(Record, frozen=True, kw_only=True):
    """Something inside a runtime that starts work."""
    description: str = ''


class Webhook(Record, frozen=True, kw_only=True):
    """An external service that starts work by sending a request."""
    description: str = ''


class Directory(Document, frozen=True, kw_only=True):
    """The subjects outside the crew that can ask for something."""
    kind: Literal['orgkernel:directory'] = msgspec.field(default='orgkernel:directory', name='_schema')
    description: str = ''
    people: dict[PersonId, Person] = msgspec.field(default_factory=dict)
    system_origins: dict[OriginId, SystemOrigin] = msgspec.field(default_factory=dict)
    webhooks: dict[WebhookId, Webhook] = msgspec.field(default_factory=dict)
