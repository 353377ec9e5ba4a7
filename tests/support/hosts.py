"""Folders that look like a host of each generation, as far as its files tell them apart."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tests.support.trees import write_tree

GENERATIONS = ("G1", "G2", "G3")

_EXTENSION = "class Extension:\n    def __init__(self, agent=None, **kwargs):\n        self.agent = agent\n"
_FILES = {
    "G1": {
        "agent.py": "",
        "python/helpers/extension.py": _EXTENSION,
        "python/extensions/before_main_llm_call/_10_log_for_stream.py": "",
        "python/tools/response.py": "",
        "agents/agent0/_context.md": "# Agent 0\n",
        "agents/developer/_context.md": "# Developer\n",
    },
    "G2": {
        "agent.py": "",
        "python/helpers/extension.py": f"from python.helpers.subagents import get_paths\n{_EXTENSION}",
        "python/extensions/before_main_llm_call/_10_log_for_stream.py": "",
        "python/tools/response.py": "",
        "agents/agent0/agent.json": "{}",
        "agents/developer/agent.json": "{}",
        "usr/.gitkeep": "",
    },
    "G3": {
        "agent.py": "",
        "helpers/extension.py": _EXTENSION,
        "tools/response.py": "",
        "plugins/_code_execution/tools/code_execution_tool.py": "",
        "plugins/_code_execution/tools/input.py": "",
        "agents/agent0/agent.yaml": "title: Agent 0\n",
        "agents/developer/agent.yaml": "title: Developer\n",
        "usr/.gitkeep": "",
    },
}  # fmt: skip


def make_host(folder: Path, generation: str) -> Path:
    """A host's root, with a space in its path."""
    return write_tree(folder / "agent zero", _FILES[generation])


def picture(root: Path) -> dict[str, str]:
    """Every file and folder below a root, with the digest and the mode of files."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = f"link to {os.readlink(path)}"
        elif path.is_dir():
            found[name] = "folder"
        else:
            found[name] = f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return found
