"""Joins an agent that the configuration of Codex declares with the file that it names.

The file wins; its missing description and model come from the declaration. A declared name is used if the file has none.
Source: `codex-rs/core/src/config/agent_roles.rs` of openai/codex, looked up in November 2026.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec.structs import replace

from orgkernel.documents.records import Requirements, RoleProfile
from orgkernel.loading.formats.building import replace_document
from orgkernel.loading.formats.coding_agents import RULES
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.sources import LoadedFile, SourceDocument

FILE = "config_file"
"""Key of the words with the file of a declared agent, relative to the top of the project."""


def join_declarations(files: Sequence[LoadedFile]) -> dict[int, SourceDocument | None]:
    """The replacements of role documents by identity: the files of declared agents, and None for their declarations."""
    roles = [
        document
        for file in files
        for document in file.read.documents
        if isinstance(document.record, RoleProfile)
    ]
    by_path = {os.path.normpath(each.path): each for each in roles if FILE not in get_list_words(each)}
    replaced: dict[int, SourceDocument | None] = {}
    for declaration in roles:
        words = get_list_words(declaration)
        if FILE not in words:
            continue
        top = os.path.dirname(os.path.dirname(declaration.path))
        own = by_path.get(os.path.normpath(os.path.join(top, words[FILE][0])))
        replaced[id(declaration)] = None
        if own is None:
            continue
        if id(own) not in replaced:
            replaced[id(own)] = _join(declaration, own)
        elif own.record.role_name != declaration.record.role_name and not _has_own_name(own):  # type: ignore[attr-defined]
            replaced[id(declaration)] = _share(declaration, own)
    return replaced


def _has_own_name(role: SourceDocument) -> bool:
    return "name" in role.marks[1]


def _join(declaration: SourceDocument, own: SourceDocument) -> SourceDocument:
    """The role of a file, with what its declaration adds."""
    return replace_document(own, _combine(declaration, own), own.marks, get_list_words(own))


def _share(declaration: SourceDocument, own: SourceDocument) -> SourceDocument:
    """The role of a declaration whose file another agent has too. Its rules are shown at the declaration."""
    record = declaration.record
    assert isinstance(record, RoleProfile)
    shared = replace(_combine(declaration, own), role_id=record.role_id, role_name=record.role_name)
    words = get_list_words(own)
    start, below = declaration.marks
    if RULES in words:
        below = {**below, RULES: (start, (start, [start] * len(words[RULES])))}
    return replace_document(declaration, shared, (start, below), words)


def _combine(declaration: SourceDocument, own: SourceDocument) -> RoleProfile:
    declared, record = declaration.record, own.record
    assert isinstance(declared, RoleProfile)
    assert isinstance(record, RoleProfile)
    model = record.requirements.preferred_model or declared.requirements.preferred_model
    return replace(
        record,
        description=record.description or declared.description,
        requirements=replace(record.requirements, preferred_model=model) if model else Requirements(),
    )
