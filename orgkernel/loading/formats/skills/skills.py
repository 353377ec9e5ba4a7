"""Builds the organization of skills without agents."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Root
from orgkernel.loading.formats.organizations import build_organization, get_organization_name
from orgkernel.loading.marks import pack_mark
from orgkernel.loading.sources import Completion, LoadedFile

_FIRST = pack_mark(1, 1)


def complete(root: Root, files: Sequence[LoadedFile]) -> Completion:
    """An organization without roles, named after the folder, because no file assigns the skills."""
    skills = [each for file in files for each in file.read.documents]
    if not skills:
        return Completion()
    organization = build_organization(
        skills[0], root.path, get_organization_name(root), {}, name=root.name or os.curdir, otherwise="skills"
    )
    return Completion({}, (organization,))
