"""The types, ids and actions of AuthZEN questions in the words of an organization, by its `authzen.types` (ADR
0023).

A question is translated before it is decided, and the results of a search are translated back. A word that is not in
the table is unchanged. If no document declares it, the question is denied. A missing property never opens anything:
rule ORG431 demands that a meaning with conditions requires no more than the meaning that remains without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from manifest_api.authzen_shapes import AuthzenAction, AuthzenEntity, EntityType, FoundEntity
from orgkernel.documents.records import (
    ActionMeaning,
    AuthzenTypes,
    ForeignResource,
    ForeignSubject,
)
from orgkernel.kernel.kernel import Kernel

SUBJECT, ACTION, RESOURCE = "subject", "action", "resource"


class Vocabulary:
    """Translates between the words of AuthZEN questions and those of one organization."""

    def __init__(self, types: AuthzenTypes) -> None:
        self._types = types

    def properties_read(self, action: str) -> frozenset[str]:
        """The properties that can change what this action means, such as `resource.status`."""
        meanings = self._types.actions.get(action, ())
        return frozenset(name for meaning in meanings for name in _list_properties(meaning))

    def all_properties_read(self) -> frozenset[str]:
        """The properties that can change what any action means."""
        return frozenset[str]().union(*map(self.properties_read, self._types.actions))

    def subject(self, entity: AuthzenEntity) -> str:
        """A subject as decisions write it."""
        foreign = self._types.subjects.get(entity.type)
        return (
            f"{entity.type}:{entity.id}"
            if foreign is None
            else _translate_id(foreign, entity.type, entity.id)
        )

    def resource(self, entity: AuthzenEntity) -> str:
        """A resource as decisions write it."""
        foreign = self._types.resources.get(entity.type)
        if foreign is None:
            return f"{entity.type}:{entity.id}"
        if foreign.tool is not None:
            return f"{foreign.kind}:{foreign.tool}:{entity.id}"
        return _translate_id(foreign, entity.type, entity.id)

    def action(
        self,
        action: AuthzenAction,
        subject: AuthzenEntity | EntityType | None,
        resource: AuthzenEntity | EntityType,
    ) -> str:
        """An action in the form of decisions: the first of its meanings whose conditions match."""
        for meaning in self._types.actions.get(action.name, ()):
            if self._holds(meaning, action, subject, resource):
                return meaning.action
        return action.name

    def _holds(
        self,
        meaning: ActionMeaning,
        action: AuthzenAction,
        subject: AuthzenEntity | EntityType | None,
        resource: AuthzenEntity | EntityType,
    ) -> bool:
        stated: dict[str, Mapping[str, Any]] = {
            ACTION: action.properties,
            RESOURCE: resource.properties,
            SUBJECT: {} if subject is None else subject.properties,
        }
        for name, wanted in meaning.where.items():
            part, _, key = name.partition(".")
            if not _equals(stated[part].get(key), wanted):
                return False
        if meaning.owner is None:
            return True
        owner = resource.properties.get(meaning.owner)
        # A searched subject is unknown, so it owns nothing.
        if not isinstance(owner, str) or not isinstance(subject, AuthzenEntity):
            return False
        return self.subject(AuthzenEntity(subject.type, owner)) == self.subject(subject)

    def subject_kind(self, foreign_type: str) -> str:
        """The kind of subjects that a search for this type returns."""
        foreign = self._types.subjects.get(foreign_type)
        return foreign_type if foreign is None else foreign.kind

    def resource_kind(self, foreign_type: str) -> str:
        """The kind of resources that a search for this type returns. Empty if the registry has no such resources."""
        foreign = self._types.resources.get(foreign_type)
        if foreign is None:
            return foreign_type
        return "" if foreign.tool is not None else foreign.kind

    def found_subjects(self, foreign_type: str, names: Iterable[str]) -> list[FoundEntity]:
        """Subjects that were found, in the words of the question."""
        return _translate_entities(self._types.subjects.get(foreign_type), foreign_type, names)

    def found_resources(self, foreign_type: str, names: Iterable[str]) -> list[FoundEntity]:
        """Resources that were found, in the words of the question."""
        return _translate_entities(self._types.resources.get(foreign_type), foreign_type, names)

    def found_actions(
        self, allowed: Iterable[str], subject: AuthzenEntity, resource: AuthzenEntity
    ) -> list[str]:
        """Actions that were found, with every name that this question could use for them."""
        permitted = dict.fromkeys(allowed)
        names = dict.fromkeys((*permitted, *self._types.actions))
        return [name for name in names if self.action(AuthzenAction(name), subject, resource) in permitted]


def _translate_id(foreign: ForeignSubject | ForeignResource, foreign_type: str, foreign_id: str) -> str:
    if not foreign.ids:
        return f"{foreign.kind}:{foreign_id}"
    known = foreign.ids.get(foreign_id)
    # An id that is not listed is of no kind that anything declares.
    return f"unlisted {foreign_type}:{foreign_id}" if known is None else f"{foreign.kind}:{known}"


def _translate_entities(
    foreign: ForeignSubject | ForeignResource | None, foreign_type: str, names: Iterable[str]
) -> list[FoundEntity]:
    back: dict[str, str] = {}
    for foreign_id, own in foreign.ids.items() if foreign is not None else ():
        back.setdefault(own, foreign_id)
    entities = []
    for name in names:
        _, _, own = name.partition(":")
        if back and own not in back:
            continue
        entities.append(FoundEntity(foreign_type, back.get(own, own)))
    return entities


def _list_properties(meaning: ActionMeaning) -> Iterator[str]:
    yield from meaning.where
    if meaning.owner is not None:
        yield f"{RESOURCE}.{meaning.owner}"


def _equals(stated: Any, wanted: str | bool | float) -> bool:
    """Whether two JSON values are equal: `true` is not 1, and 1 is 1.0."""
    if isinstance(stated, bool) or isinstance(wanted, bool):
        return stated is wanted
    return isinstance(stated, str | int | float) and stated == wanted


_NATIVE = Vocabulary(AuthzenTypes())


def get_vocabulary(kernel: Kernel, org: str) -> Vocabulary:
    """The vocabulary of an organization. Raises the errors of `Kernel.organization`."""
    types = kernel.organization(org).snapshot.records.organization.authzen.types
    return Vocabulary(types) if types.subjects or types.resources or types.actions else _NATIVE
