"""Tells agents of one name apart, for hosts that know an agent by its file and accept the same name in several files.

The agent whose file has this name keeps it, or else the first one. The others are known by their files.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from orgkernel.documents.records import RoleProfile, StandingOrder
from orgkernel.loading.formats.building import replace_document
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id, derive_name
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.sources import NAME_IN_FILE, LoadedFile, SourceDocument


def separate_namesakes(
    files: Sequence[LoadedFile],
) -> tuple[Sequence[LoadedFile], Mapping[int, SourceDocument]]:
    """The files with unique ids of their roles, and the replacements of documents by identity.

    An id that one file declares several times stays as it is.
    """
    declared: dict[str, list[LoadedFile]] = defaultdict(list)
    for file in files:
        for role_id in {each.role_id for each in _list_roles(file)}:
            declared[role_id].append(file)
    new_ids: dict[int, dict[str, str]] = defaultdict(dict)
    for role_id, those in sorted(declared.items()):
        if len(those) < 2:
            continue
        owner = next((each for each in those if _get_id_of_file(each, 1) == role_id), those[0])
        for file in those:
            if file is not owner and (new := _find_free_id(file, declared, new_ids)):
                new_ids[id(file)][role_id] = new
    if not new_ids:
        return files, {}
    instead: dict[int, SourceDocument] = {}
    renamed: list[LoadedFile] = []
    for file in files:
        if (own := new_ids.get(id(file))) is None:
            renamed.append(file)
            continue
        documents = tuple(_rename(each, own) for each in file.read.documents)
        instead |= {id(old): new for old, new in zip(file.read.documents, documents, strict=True)}
        renamed.append(file._replace(read=replace(file.read, documents=documents)))
    return renamed, instead


def _list_roles(file: LoadedFile) -> Sequence[RoleProfile]:
    records = (each.record for each in file.read.documents if each.kind == "role_profile")
    return [each for each in records if isinstance(each, RoleProfile)]


def _get_id_of_file(file: LoadedFile, length: int) -> str:
    """The id of a role that is named after its file, with some of the folders above it: `length` parts in all."""
    parts = file.located.name.split("/")[-length:]
    stem = os.path.basename(parts[-1]).split(".")[0]
    return convert_to_id("/".join([*parts[:-1], stem]))[:MAX_NAME_LENGTH]


def _find_free_id(
    file: LoadedFile, declared: Mapping[str, object], new_ids: Mapping[int, Mapping[str, str]]
) -> str | None:
    taken = {new for ids in new_ids.values() for new in ids.values()} | set(declared)
    for length in range(1, file.located.name.count("/") + 2):
        new = _get_id_of_file(file, length)
        if new and new not in taken:
            return new
    return None


def _rename(document: SourceDocument, new_ids: Mapping[str, str]) -> SourceDocument:
    record = document.record
    if isinstance(record, RoleProfile) and record.role_id in new_ids:
        new = new_ids[record.role_id]
        raw = {**get_list_words(document), NAME_IN_FILE: [record.role_name or record.role_id]}
        return replace_document(
            document, replace(record, role_id=new, role_name=derive_name(new)), document.marks, raw
        )
    if isinstance(record, StandingOrder) and record.audience == "role" and record.target in new_ids:
        return replace_document(document, replace(record, target=new_ids[record.target]), document.marks)
    return document
