"""Checks whether files and commands that texts refer to exist.

The answers depend on the disk, so they are looked up at every load, and a cached load is valid only while every
answer is the same. Lookups never leave the root and never follow links, and their number is limited.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from orgkernel.documents.records import Bill, CognitiveSkill, RoleProfile, StandingOrder
from orgkernel.loading.files import Root, does_reference_exist, list_markdown_below
from orgkernel.loading.formats.building import add_words
from orgkernel.loading.formats.references import (
    COMMAND,
    LINK,
    PATH,
    TextReference,
    find_references,
    get_references,
)
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.sources import LoadedFile, Lookup, SourceDocument

MISSING = "missing"
"""Key under which missing references are kept next to the record of a document."""
MAX_LOOKUPS = 2_000
"""Maximum number of answers for one root. Further references are assumed to exist."""
_COMMANDS, _SKILLS = "commands", "skills"
_CLAUDE = ".claude"
_INSTRUCTING = ("standing_order", "cognitive_skill", "role_profile", "bill")
"""Kinds of orgkernel documents with texts that agents read."""
_MARKS_OF_REFERENCES = (b"`", b"](")
"""A file or command is in backticks, or the target of a link."""
# A folder of the project with files of its host. Files elsewhere can be meant for any project.
_HIDDEN = re.compile(r"\.[a-z][a-z-]*\Z")


def look_up(
    root: Root, number: int, documents: Iterable[SourceDocument]
) -> tuple[dict[int, SourceDocument], dict[Lookup, bool]]:
    """The documents with references to missing files or commands, and all answers."""
    looked_up: dict[Lookup, bool] = {}
    instead: dict[int, SourceDocument] = {}
    hidden = _get_hidden_folder(root)
    for document in documents:
        missing = []
        for reference in get_references(document):
            lookup = _lookup(root, number, hidden, document, reference)
            if lookup is None or (lookup not in looked_up and len(looked_up) >= MAX_LOOKUPS):
                continue
            if lookup not in looked_up:
                looked_up[lookup] = answer(root, lookup)
            if not looked_up[lookup]:
                missing.append(reference)
        if missing:
            instead[id(document)] = add_words(document, {MISSING: missing})
    return instead, looked_up


def look_up_own(files: Iterable[LoadedFile]) -> tuple[dict[int, SourceDocument], dict[Lookup, bool]]:
    """The same for the texts of orgkernel documents. Their references are found at each load, because few of them have any."""
    looked_up: dict[Lookup, bool] = {}
    instead: dict[int, SourceDocument] = {}
    for file in files:
        root = file.located.root
        if root.areas or root.shared or root.context or root.format:
            continue
        for document in file.read.documents:
            if document.kind not in _INSTRUCTING or not any(
                each in document.packed.record for each in _MARKS_OF_REFERENCES
            ):
                continue
            missing = {}
            for text in _list_texts(document):
                for reference in find_references(text):
                    lookup = _lookup(root, file.located.number, _CLAUDE, document, reference)
                    if lookup is None or (lookup not in looked_up and len(looked_up) >= MAX_LOOKUPS):
                        continue
                    if lookup not in looked_up:
                        looked_up[lookup] = answer(root, lookup)
                    if not looked_up[lookup]:
                        missing[reference.kind, reference.name] = reference
            if missing:
                instead[id(document)] = add_words(document, {MISSING: [*missing.values()]})
    return instead, looked_up


def _list_texts(document: SourceDocument) -> Iterator[str]:
    """The texts of a document that agents read."""
    match document.record:
        case StandingOrder() | CognitiveSkill() as record:
            yield record.body
        case RoleProfile(overlay=False) as record:
            yield record.description
            yield from record.standing_orders
        case Bill() as record:
            yield record.description
            yield from (step.name for step in record.steps)


def get_missing(document: SourceDocument) -> Sequence[TextReference]:
    """The references of a document to files and commands that do not exist."""
    return [TextReference(*each) for each in get_list_words(document).get(MISSING, ())]


def are_answers_current(roots: Sequence[Root], looked_up: Mapping[Lookup, bool]) -> bool:
    """Whether every lookup still has the same answer."""
    return all(answer(roots[each.root], each) == was for each, was in looked_up.items())


def answer(root: Root, lookup: Lookup) -> bool:
    """Whether a file or command exists. True if it could be behind a link."""
    if lookup.name.startswith("/"):
        return _is_command(root.path, lookup.folder, lookup.name.removeprefix("/"))
    # A path that begins with `..` is relative to the folder of the text.
    folders = [lookup.folder] if lookup.name.startswith(os.pardir) else _iterate_upwards(lookup.folder)
    return any(does_reference_exist(root.path, folder, lookup.name) for folder in folders)


def _lookup(
    root: Root, number: int, hidden: str, document: SourceDocument, reference: TextReference
) -> Lookup | None:
    """The lookup for a reference. None if the reference could lead outside the root."""
    if reference.kind == COMMAND:
        return Lookup(number, hidden, f"/{reference.name}") if hidden else None
    if reference.kind == LINK or (reference.kind == PATH and hidden):
        folder = os.path.relpath(os.path.dirname(document.path), root.path)
        return None if folder.startswith(os.pardir) else Lookup(number, folder, reference.name)
    return None


def _get_hidden_folder(root: Root) -> str:
    """The folder below the root that marks a project, such as `.claude`. Empty for a plugin, or for a folder of
    agents only.
    """
    tops = (area.path.split(os.sep)[0] for area in root.areas if area.files and os.sep in area.path)
    return next(filter(_HIDDEN.match, tops), "")


def _iterate_upwards(folder: str) -> Iterator[str]:
    """A folder and its parents, up to the root."""
    while folder not in ("", os.curdir):
        yield folder
        folder = os.path.dirname(folder)
    yield ""


def _is_command(top: str, hidden: str, name: str) -> bool:
    """Whether a command or a skill with this name exists. True in a project that has neither, because its users can
    have their own.
    """
    commands, skills = (os.path.join(top, hidden, each) for each in (_COMMANDS, _SKILLS))
    names = {os.path.basename(each).removesuffix(".md") for each in list_markdown_below(commands)}
    return not names or name in names or does_reference_exist(skills, "", os.path.join(name, "SKILL.md"))
