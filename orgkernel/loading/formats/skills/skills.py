"""Reads a SKILL.md at any place, and builds the organization of skills without agents."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.documents import read_broken, read_parsed_markdown
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import add_text
from orgkernel.loading.formats.organizations import build_organization, get_organization_name
from orgkernel.loading.markdown import parse_skill
from orgkernel.loading.marks import pack_mark
from orgkernel.loading.sources import Completion, FileRead, ReadFile

_KIND = "cognitive_skill"
_FIRST = pack_mark(1, 1)


def read_skill(source: SourceText, root: Root) -> ReadFile:
    """Read the skill."""
    if source.refusal is not None:
        return read_broken(source, _KIND, [source.refusal])
    parsed = parse_skill(source)
    if parsed.value is None:
        return read_broken(source, _KIND, parsed.refusals)
    return add_text(read_parsed_markdown(source, parsed, root.shared, root.context, root.format))


def complete(root: Root, files: Sequence[FileRead]) -> Completion:
    """An organization without roles, named after the folder, because no file assigns the skills."""
    skills = [each for file in files for each in file.read.documents]
    if not skills:
        return Completion()
    organization = build_organization(
        skills[0], root.path, get_organization_name(root), {}, name=root.name or os.curdir, otherwise="skills"
    )
    return Completion({}, (organization,))
