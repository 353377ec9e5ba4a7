"""Identify a subject: its kind, keys and roles in the organization."""

from __future__ import annotations

from typing import Literal

import msgspec

from orgkernel.documents.records import BUILT_IN_ORIGINS, USER
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords

SubjectKind = Literal["role", "agent", "person", "unknown", "system", "webhook"]
UNKNOWN_SENDER = "unknown"
"""The subject that stands for a sender who is not in the directory."""


class SubjectIdentity(msgspec.Struct, frozen=True):
    """A declared subject."""

    subject: str
    """The canonical name. A sender that the directory knows becomes a person."""
    kind: SubjectKind
    id: str
    keys: tuple[str, ...]
    """The names by which grants, restrictions and policies can refer to the subject."""
    roles: tuple[str, ...] = ()
    """The roles that it is or fills."""
    is_owner: bool = False
    relationship: str | None = None
    tags: frozenset[str] = frozenset()
    name: str = ""

    @property
    def is_user(self) -> bool:
        """Whether it is the owner in person. The built-in system origins act for the owner, and no person is there."""
        return self.is_owner and self.kind == "person"

    @property
    def is_crew(self) -> bool:
        """Whether roles grant permissions to it. Otherwise policies do."""
        return self.kind in ("role", "agent")


def identify(view: OrgView, subject: str) -> SubjectIdentity | None:
    """The identity of a subject; None for a name that no document declares.

    A sender who is not in the directory is `person:unknown`, of kind unknown, so policies can match it.
    """
    kind, _, name = subject.partition(":")
    records = view.records
    if kind == "role" and view.is_role(name):
        return identify_role(view, (name,))
    if kind == "agent" and name in records.agents:
        roles = tuple(edge.target for edge in view.list_roles_filled_by(name) if view.is_role(edge.target))
        keys = (subject, *(f"role:{role}" for role in roles))
        return SubjectIdentity(subject, "agent", name, keys, roles, name=records.agents[name].record.callsign)
    if kind == "person":
        return _identify_person(records, name)
    if kind == "sender":
        return _identify_sender(records, name)
    if kind == "system" and (name in BUILT_IN_ORIGINS or name in records.system_origins):
        is_owner = name in BUILT_IN_ORIGINS
        return SubjectIdentity(subject, "system", name, (subject,), is_owner=is_owner, name=name)
    if kind == "webhook" and name in records.webhooks:
        return SubjectIdentity(subject, "webhook", name, (subject,), name=name)
    return None


def identify_role(view: OrgView, roles: tuple[str, ...]) -> SubjectIdentity:
    """A hypothetical holder of these roles, at the entry rank of the first."""
    name = view.records.posts[roles[0]].profile.name
    keys = tuple(f"role:{role}" for role in roles)
    return SubjectIdentity(keys[0], "role", roles[0], keys, roles, name=name)


def add_role(view: OrgView, identity: SubjectIdentity, role: str) -> SubjectIdentity:
    """The same member of the crew with one more role."""
    roles = (*identity.roles, role)
    if identity.kind == "role":
        return identify_role(view, roles)
    keys = (identity.subject, *(f"role:{each}" for each in roles))
    return SubjectIdentity(identity.subject, identity.kind, identity.id, keys, roles, name=identity.name)


def _identify_person(records: OrgRecords, name: str) -> SubjectIdentity | None:
    if name not in records.people:
        if name == USER:
            return SubjectIdentity(f"person:{USER}", "person", USER, (f"person:{USER}", "relationship:owner"),
                                   is_owner=True, relationship="owner", name=USER)  # fmt: skip
        if name == UNKNOWN_SENDER:
            return SubjectIdentity(f"person:{name}", "unknown", name, (f"person:{name}",), name=name)
        return None
    person = records.people[name].record
    keys = [f"person:{name}"]
    if person.relationship is not None:
        keys.append(f"relationship:{person.relationship}")
    keys += (f"tag:{tag}" for tag in dict.fromkeys(person.tags))
    owner = person.relationship == "owner"
    return SubjectIdentity(f"person:{name}", "person", name, tuple(keys), (), owner, person.relationship,
                           frozenset(person.tags), person.name or name)  # fmt: skip


def _identify_sender(records: OrgRecords, written: str) -> SubjectIdentity | None:
    """The person who writes under `PLATFORM/SPACE/ID`; the space may be empty, and left out with its slash."""
    person_id = find_person_of_sender(records, written)
    if person_id is not None:
        return _identify_person(records, person_id)
    platform, _, sender = _split_sender(written)
    return _identify_person(records, UNKNOWN_SENDER) if platform and sender else None


def find_person_of_sender(records: OrgRecords, written: str) -> str | None:
    """Find the person in the directory who writes under `PLATFORM/SPACE/ID` or `PLATFORM/ID`."""
    platform, space, sender = _split_sender(written)
    for person in records.people.values():
        for identity in person.record.identities:
            there = identity.space is None or identity.space == space
            if there and (identity.platform, identity.id) == (platform, sender):
                return person.id
    return None


def _split_sender(written: str) -> tuple[str, str, str]:
    """Split a sender into platform, space and id."""
    platform, _, rest = written.partition("/")
    space, slash, sender = rest.partition("/")
    return (platform, space, sender) if slash else (platform, "", space)
