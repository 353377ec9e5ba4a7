"""`directory`: people, system origins and webhooks (policies and governance §1). Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.record import Document, Id, OriginId, PersonId, Record, WebhookId
Relationship = Literal['owner', 'partner', 'family', 'friend', 'work']
BUILT_IN_ORIGINS = ('cron', 'runtime', 'boot', 'restart', 'node', 'clock')


class Identity(Record, frozen=True, kw_only=True):
    """How a person is known on a platform."""
    platform: Id
    space: str | None = None
    id: str


class Person(Record, frozen=True, kw_only=True):
    """Somebody who talks to the organization."""
    name: str = ''
    relationship: Relationship | None = None
    tags: tuple[Id, ...] = ()
    identities: tuple[Identity, ...] = ()


class SystemOrigin(Record, frozen=True, kw_only=True):
    """Something inside a runtime that starts work."""
    description: str = ''


class Webhook(Record, frozen=True, kw_only=True):
    """An outside service that starts work by calling in."""
    description: str = ''


class Directory(Document, frozen=True, kw_only=True):
    """Who can ask for something."""
    kind: Literal['orgkernel:directory'] = msgspec.field(default='orgkernel:directory', name='_schema')
    description: str = ''
    people: dict[PersonId, Person] = msgspec.field(default_factory=dict)
    system_origins: dict[OriginId, SystemOrigin] = msgspec.field(default_factory=dict)
    webhooks: dict[WebhookId, Webhook] = msgspec.field(default_factory=dict)
