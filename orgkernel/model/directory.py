"""`directory`: people, system origins and webhooks (policies and governance §1)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from orgkernel.model.record import Document, Id, OriginId, PersonId, Record, WebhookId

Relationship = Literal["owner", "partner", "family", "friend", "work"]

# Origins inside a runtime, which act as the owner (policies and governance §1.6).
BUILT_IN_ORIGINS = ("cron", "runtime", "boot", "restart", "node", "clock")


class Identity(Record):
    """How a person is known on a platform."""

    platform: Id
    """Platform, such as `slack`."""
    space: str | None = None
    """Workspace, guild or account on the platform; absent means the identity holds on all of it."""
    id: str = Field(min_length=1)
    """The sender's id there."""


class Person(Record):
    """Somebody who talks to the organization."""

    name: str = ""
    relationship: Relationship | None = None
    """What the person is to the owner; absent for somebody known without one."""
    tags: tuple[Id, ...] = ()
    """Words policies can match."""
    identities: tuple[Identity, ...] = ()


class SystemOrigin(Record):
    """Something inside a runtime that starts work."""

    description: str = ""


class Webhook(Record):
    """An outside service that starts work by calling in."""

    description: str = ""


class Directory(Document):
    """Who can ask for something."""

    kind: Literal["orgkernel:directory"] = Field(default="orgkernel:directory", alias="_schema")
    description: str = ""
    people: dict[PersonId, Person] = Field(default_factory=dict)
    system_origins: dict[OriginId, SystemOrigin] = Field(default_factory=dict)
    """Origins besides those every runtime has: cron, runtime, boot, restart, node and clock."""
    webhooks: dict[WebhookId, Webhook] = Field(default_factory=dict)
