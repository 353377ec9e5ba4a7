"""`directory`: people, system origins and webhooks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.documents.model.record import Document, Id, OriginId, PersonId, Record, WebhookId

Relationship = Literal["owner", "partner", "family", "friend", "work"]

# Origins inside a runtime. They act as the owner.
BUILT_IN_ORIGINS = ("cron", "runtime", "boot", "restart", "node", "clock")


class Identity(Record):
    """A person's identity on a platform."""

    platform: Id
    """Platform, such as `slack`."""
    space: str | None = None
    """Workspace, guild or account on the platform. Absent means the whole platform."""
    id: Annotated[str, Field(min_length=1)]
    """The sender's id on the platform."""


class Person(Record):
    """A person who talks to the organization."""

    name: str = ""
    relationship: Relationship | None = None
    """The person's relationship to the owner, if any."""
    tags: tuple[Id, ...] = ()
    """Words that policies can match."""
    identities: tuple[Identity, ...] = ()


class SystemOrigin(Record):
    """A source inside a runtime that starts work."""

    description: str = ""


class Webhook(Record):
    """An external service that starts work by sending a request."""

    description: str = ""


class Directory(Document):
    """The subjects outside the crew that can send requests."""

    kind: Literal["orgkernel:directory"] = Field(default="orgkernel:directory", alias="_schema")
    description: str = ""
    people: dict[PersonId, Person] = Field(default_factory=dict)
    system_origins: dict[OriginId, SystemOrigin] = Field(default_factory=dict)
    """Origins in addition to those of every runtime: cron, runtime, boot, restart, node and clock."""
    webhooks: dict[WebhookId, Webhook] = Field(default_factory=dict)
