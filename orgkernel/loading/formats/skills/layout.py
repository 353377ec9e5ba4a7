"""Locates skills: in a folder of skills, or in the folders that hosts search."""

from __future__ import annotations

import os
import re

from orgkernel.documents.records import ORGANIZATION
from orgkernel.loading.files import (
    ORDERS,
    SKILL_FILE,
    SKILLS,
    Area,
    does_mention,
    find_in_head,
    is_file,
    is_folder,
    list_documents_in,
    list_folders_in,
)
from orgkernel.loading.formats.format import Layout

HIDDEN_OF_CLAUDE = ".claude"
_PLACES = (SKILLS, os.path.join(".agents", SKILLS), os.path.join(HIDDEN_OF_CLAUDE, SKILLS))
_FILES = r"[^/]+/SKILL\.md"
_LEVELS_UP = 4
_BEGINS, _HEAD = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t\r]*\n"), 64


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """The location of the skills for a path: a project, a folder of skills, or one skill.

    Skills of an orgkernel organization belong to that organization.
    """
    if not is_folder(path):
        return _build_file_layout(path) if is_certain and os.path.basename(path) == SKILL_FILE else None
    if not is_certain and _is_in_organization(path):
        return None
    places = [place for place in _PLACES if _does_hold_skills(os.path.join(path, place))]
    if places:
        return Layout(path, tuple(Area(place, _FILES, depth=1) for place in places))
    if _does_hold_skills(path, _BEGINS) or (is_certain and not is_file(os.path.join(path, SKILL_FILE))):
        return Layout(path, (Area(".", _FILES, depth=1),))
    return (
        _build_file_layout(os.path.join(path, SKILL_FILE))
        if is_file(os.path.join(path, SKILL_FILE))
        else None
    )


def _build_file_layout(file: str) -> Layout:
    return Layout(os.path.dirname(file), (Area(SKILL_FILE),))


def _does_hold_skills(folder: str, begins: re.Pattern[bytes] | None = None) -> bool:
    """Whether a folder contains folders of skills. If its name does not show it, one of them must begin like a skill."""
    files = (os.path.join(each, SKILL_FILE) for each in list_folders_in(folder))
    return any(is_file(file) and (begins is None or find_in_head(file, begins, _HEAD)) for file in files)


def _is_in_organization(folder: str) -> bool:
    """Whether a folder, or a folder above it, directly contains an orgkernel organization or standing orders."""
    for _ in range(_LEVELS_UP):
        if is_folder(os.path.join(folder, ORDERS)) or any(
            does_mention(path, ORGANIZATION) for path in list_documents_in(folder)
        ):
            return True
        folder = os.path.dirname(folder)
    return False
