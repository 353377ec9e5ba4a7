"""Microsoft Agent Framework: declarative agents, YAML files with `kind: Prompt`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.formats.listed_files import FilesByContent
from orgkernel.loading.sources import Completion, FileResult, LoadedFile
from orgkernel.runtime.lazy_patterns import lazy_pattern

_FILES = r"[^/]+[.]ya?ml"
_NAMES = lazy_pattern(r"[^.].*\.ya?ml")
# `Agent` is a kind in files of other programs, too.
_PROMPT = lazy_pattern(
    rb"^(?:\xef\xbb\xbf)?[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?(?i:prompt)\b|\A(?=[\s\S]*^instructions[ \t]*:)[\s\S]*?^kind[ \t]*:[ \t]*[\"']?Agent\b",
    re.MULTILINE,
)
_SOURCES = FilesByContent(_FILES, _NAMES, _PROMPT, 2 * 1024)


def is_prompt(text: str) -> bool:
    r"""Whether a file that cannot be read is an agent.

    >>> is_prompt("name: a\nkind: prompt\nx: ["), is_prompt("kind: Agent\nspec: [")
    (True, False)
    """
    return bool(_PROMPT.search(text.encode("utf-8", "replace")[: _SOURCES.size]))


class AgentFramework:
    """The Agent Framework format. Its readers are imported on first use."""

    name = "agent-framework"
    title = "Microsoft Agent Framework"
    catalog = ""

    def may_hold(self, path: str) -> bool:
        """Whether a file can be an agent: only its content shows it."""
        return False

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The location of the agents for a path: a folder that directly contains some, or a file."""
        return _SOURCES.find(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one agent."""
        from orgkernel.loading.formats.agent_framework.agents import read_agent

        return read_agent(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization. The files declare no chain of command."""
        from orgkernel.loading.formats.declared_agents import complete_declared

        return complete_declared(root, files)


FORMAT = AgentFramework()
