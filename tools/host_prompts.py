"""Print the prompts of a real Agent-Zero as JSON, read by its own loader: run by `tools/host_figures.py`, in the host's folder.

`python host_prompts.py` needs only what the host's prompts need (simpleeval, PyYAML, pydantic). Any other package that the
host imports and that is not installed is replaced by an empty one, because no model, browser or server takes part.
"""

from __future__ import annotations

import contextlib
import glob
import importlib
import importlib.machinery
import importlib.util
import io
import json
import os
import sys
import types
from typing import Any, ClassVar
from unittest import mock

_FOLDERS = ("prompts", "plugins/*/prompts", "agents/agent0/prompts")
_TOOL_FILES = "agent.system.tool.*.md"


class _Absent(types.ModuleType):
    """A package that is not installed: every name in it is a mock."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return mock.MagicMock(name=name)


class _AbsentPackages:
    """Finds what no other finder has found, unless the host itself should have it."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        first = name.partition(".")[0]
        if not isinstance(sys.modules.get(first, _Absent(first)), _Absent):
            return None  # a part that an installed package lacks on purpose
        if os.path.exists(first) or os.path.exists(f"{first}.py") or first in sys.stdlib_module_names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        return _Absent(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """An empty package has nothing to run."""


def read_prompts() -> dict[str, Any]:
    """The main prompt, the tool section, the list of skills, and the text of each file about tools, in the folder of the
    host.
    """
    import agent as host  # type: ignore[import-not-found]

    reader = types.SimpleNamespace(
        config=types.SimpleNamespace(profile="agent0", knowledge_subdirs=[]),
        data={},
        context=types.SimpleNamespace(get_data=lambda *_: None, data={}, id="figures"),
        number=0,
    )
    reader.get_data = reader.data.get

    def read(name: str, **variables: str) -> str:
        text: str = host.Agent.read_prompt(reader, name, **variables)
        return text

    reader.read_prompt = read
    names = sorted(
        {
            os.path.basename(path)
            for folder in _FOLDERS
            for path in glob.glob(os.path.join(folder, _TOOL_FILES))
        }
    )
    files = {name: read(name) for name in names}
    section = "agent.system.tools.md"
    try:
        tools = read(section)
    except Exception:  # a newer host joins the files in its extension
        tools = ""
    if "{{tools}}" in tools or not any(text.strip()[:60] in tools for text in files.values()):
        joined = "\n\n".join(text for name, text in files.items() if "example" not in name)
        tools = tools.replace("{{tools}}", joined) if "{{tools}}" in tools else f"{tools}\n\n{joined}"
    return {"main": read("agent.system.main.md"), "tools": tools, "skills": read_skills(read), "files": files}


def read_skills(read: Any) -> str:
    """The entry about the skills that the host itself has. Empty for a host without any."""
    if not os.path.exists("prompts/agent.system.skills.md"):
        return ""
    helpers = "helpers" if os.path.exists("helpers/skills.py") else "python.helpers"
    skills = importlib.import_module(f"{helpers}.skills").list_skills()
    listed = [f"**{each.name}** {each.description}".replace("\n", " ") for each in skills]
    return str(read("agent.system.skills.md", skills="\n".join(listed))) if listed else ""


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    sys.meta_path.append(_AbsentPackages())  # type: ignore[arg-type]
    with contextlib.redirect_stdout(io.StringIO()):
        prompts = read_prompts()
    print(json.dumps(prompts))
