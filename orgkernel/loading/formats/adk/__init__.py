"""Google ADK: agent configurations (`root_agent.yaml` and the files that it names under `sub_agents`)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from orgkernel.loading.files import SUFFIXES, Area, Root, SourceText, find_in_head, is_file, is_folder
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile
from orgkernel.runtime.lazy_patterns import lazy_pattern

ROOTS = ("root_agent.yaml", "root_agent.yml")
_FILES = r".*[.]ya?ml"
_CONFIGURATION = lazy_pattern(
    rb"adk-python/[^\n]*AgentConfig\.json|^agent_class[ \t]*:|^sub_agents[ \t]*:[ \t]*\n[ \t]*-[ \t]*(?:config_path|code)[ \t]*:",
    re.MULTILINE,
)
_SIZE = 16 * 1024


class AdkAgents:
    """The ADK format. Its readers are imported on first use."""

    name = "adk"
    title = "Google ADK"
    catalog = ""

    def may_hold(self, path: str) -> bool:
        """Whether a file can be a configuration, which only its content shows."""
        return os.path.basename(path) in ROOTS

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The location of the configurations for a path: the folder of a root agent, with all folders below it."""
        if not is_folder(path):
            if path.endswith(SUFFIXES) and (is_certain or _is_configuration(path)):
                return Layout(os.path.dirname(path), (Area(os.curdir, _FILES),))
            return None
        if any(is_file(os.path.join(path, each)) for each in ROOTS) or is_certain:
            return Layout(path, (Area(os.curdir, _FILES),))
        return None

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one configuration."""
        from orgkernel.loading.formats.adk.agents import read_agent

        return read_agent(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization."""
        from orgkernel.loading.formats.declared_agents import complete_declared

        return complete_declared(root, files)


def _is_configuration(path: str) -> bool:
    return os.path.basename(path) in ROOTS or bool(find_in_head(path, _CONFIGURATION, _SIZE))


FORMAT = AdkAgents()
