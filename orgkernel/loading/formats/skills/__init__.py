"""Agent Skills without agents: folders with a SKILL.md each. They form an organization without roles."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import SKILL_FILE, Root, SourceText
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.formats.skills.layout import HIDDEN_OF_CLAUDE, find_layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class AgentSkills:
    """The Agent Skills format. Its readers are imported on first use."""

    name = "skills"
    title = "Agent Skills"
    catalog = ""

    def may_hold(self, path: str) -> bool:
        """Whether a file is a skill in another format. orgkernel skills are only below `skills`."""
        return os.path.basename(path) == SKILL_FILE

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the skills for a path."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one skill."""
        from orgkernel.loading.formats.host_skills import read_skill

        return read_skill(source, root, is_name_optional=HIDDEN_OF_CLAUDE in source.path.split(os.sep))

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build an organization without roles that has the skills."""
        from orgkernel.loading.formats.skills.skills import complete

        return complete(root, files)


FORMAT = AgentSkills()
