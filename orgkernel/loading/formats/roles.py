"""Adds to roles in other formats the facts that do not come from their own files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from orgkernel.documents.records import USER, HandoffRights, HierarchyEntry, RoleProfile, RoleType
from orgkernel.loading.files import Root
from orgkernel.loading.formats.building import add_tools, replace_document
from orgkernel.loading.formats.names import convert_to_id
from orgkernel.loading.formats.organizations import build_organization, get_organization_name
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.marks import pack_mark
from orgkernel.loading.sources import Completion, LoadedFile, SourceDocument

UNDECLARED = "undeclared"
"""Key of a role's undeclared words, as `FIELD NUMBER`."""
MAX_TOOL_NAME_LENGTH = 200
_FIRST = pack_mark(1, 1)


ROLE_TYPES: tuple[RoleType, ...] = ("specialist", "executive", "commander")
"""The type of a role by the number of levels below it."""


class RolePart(NamedTuple):
    """The part of a role that its organization determines."""

    tools: Mapping[str, int] = {}
    """Mark of the word that adds the tool, keyed by tool."""
    undeclared: Sequence[str] = ()
    superior: str = USER
    role_type: RoleType = "specialist"
    may_hand_off: Sequence[str] = ()
    delegates_at: int = 0
    """The mark of the value that allows delegation."""
    procedures: Sequence[str] = ()


def place_role(role: SourceDocument, part: RolePart) -> SourceDocument:
    """The role with its part. Its document keeps the file of the agent."""
    record, marks = role.record, role.marks
    assert isinstance(record, RoleProfile)
    at = marks[0]
    chain = replace(record.chain_of_command, reports_to=part.superior)
    below = add_tools(marks, list(part.tools.values()))[1]
    if part.delegates_at:
        key = part.delegates_at
        chain = replace(chain, can_delegate=True)
        listed = (key, (key, [key] * len(part.may_hand_off)))
        below["chain_of_command"] = (key, (key, {"can_delegate": (key, key)}))
        below["handoff"] = (key, (key, {"may_to": listed}))
    if part.procedures:
        key, inner = below["capabilities"]
        below["capabilities"] = (
            key,
            (inner[0], {**inner[1], "procedures": (at, (at, [at] * len(part.procedures)))}),
        )
    changed = replace(
        record,
        role_type=part.role_type,
        chain_of_command=chain,
        capabilities=replace(
            record.capabilities, tools_primary=tuple(part.tools), procedures=tuple(part.procedures)
        ),
        handoff=HandoffRights(may_to=tuple(part.may_hand_off)),
    )
    raw = {**get_list_words(role), UNDECLARED: list(part.undeclared)} if part.undeclared else None
    return replace_document(role, changed, (at, below), raw)


def build_flat_organization(root: Root, files: Sequence[LoadedFile]) -> Completion:
    """An organization named after its folder, in which every role reports to the user, because no file declares a
    chain of command.
    """
    roles = [each for file in files for each in file.read.documents if each.kind == "role_profile"]
    if not roles:
        return Completion()
    hierarchy = {each.record.role_id: HierarchyEntry() for each in roles}  # type: ignore[attr-defined]
    name = root.name or os.curdir
    return Completion(
        {}, (build_organization(roles[0], root.path, get_organization_name(root), hierarchy, name=name),)
    )


def build_tool_id_from_name(word: str) -> str | None:
    """The id of a tool, from its name. None for a name that is too long.

    >>> build_tool_id_from_name("search"), build_tool_id_from_name("custom:search"), build_tool_id_from_name("")
    ('search', 'custom_3a_search', None)
    """
    tool = convert_to_id(word)
    return tool if 0 < len(tool) <= MAX_TOOL_NAME_LENGTH else None


def measure_height(role_id: str, subordinates: Mapping[str, Iterable[str]]) -> int:
    """The number of levels below a role, at most two, because role types do not distinguish more."""
    below, height = {role_id}, 0
    while height < len(ROLE_TYPES) - 1:
        below = {each for superior in below for each in subordinates.get(superior, ())}
        if not below:
            break
        height += 1
    return height
