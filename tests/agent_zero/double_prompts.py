"""The prompt files of a stock Agent-Zero and the extensions that put the system prompt together.

The texts are ours; which file serves which tools, where it lies and how long it is are the host's.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from tests.support.yaml_text import read_yaml_file

STOCK_TOOLS: dict[str, tuple[tuple[str, ...], int, int]] = {
    "a2a_chat": (("a2a_chat",), 2384, 909),
    "behaviour": (("behaviour_adjustment",), 347, 179),
    "browser": (("browser_agent",), 960, 335),
    "call_sub": (("call_subordinate",), 1097, 848),
    "code_exe": (("code_execution_tool",), 2353, 2805),
    "document_query": (("document_query",), 1385, 1093),
    "input": (("input",), 393, 393),
    "memory": (("memory_load", "memory_save", "memory_delete", "memory_forget"), 1844, 733),
    "notify_user": (("notify_user",), 1450, 265),
    "response": (("response",), 1229, 1152),
    "scheduler": (("scheduler",), 11165, 1402),
    "search_engine": (("search_engine",), 311, 377),
    "skills": (("skills_tool",), 2154, 536),
    "text_editor": (("text_editor",), 0, 1688),
    "wait": (("wait",), 587, 173),
}
"""Of each file `agent.system.tool.NAME.md`: the tools it serves, and its characters in 0.9.8.2 and in 1.7."""

_OF_PLUGINS = {
    "browser": "_browser_agent",
    "code_exe": "_code_execution",
    "input": "_code_execution",
    "memory": "_memory",
    "behaviour": "_memory",
    "text_editor": "_text_editor",
}
TOOLS_OF_PLUGINS = {tool: plugin for file, plugin in _OF_PLUGINS.items() for tool in STOCK_TOOLS[file][0]}
"""In which plugin a tool lies in the third generation."""
_METHODS = {"scheduler": ":create_task", "skills_tool": ":load", "text_editor": ":read"}
VISION = "## Images\nYou can look at images with `vision_load`."
SKILLS = "## Skills available\n- release_notes: how we write them"
SECRETS = "## Secrets\nUse the alias §§secret(NAME)."
PROJECT = "## Project\nThere is no active project."
MAIN = (
    "# You are an agent\nSolve the task step by step. Answer with one JSON object that names a tool.\n"
    + "\n".join(
        f"{number}. think before you act, look at what came back, and say plainly what you found"
        for number in range(1, 51)
    )
)
"""About as long as a stock main prompt, a thousand tokens."""
TOOLS_HEADER = "## Tools available:"


ODD_IN_G1 = "notify_user"
"""In the first generation this file closes a fence twice, which shifts the fences of the files after it."""


def tool_text(tools: tuple[str, ...], size: int, *, odd: bool = False) -> str:
    """What a file says of its tools: a heading, an example for each where there is room, and words up to the size."""
    text = (
        f"### {tools[0] if len(tools) == 1 else 'memory tools'}\nwhat {tools[0]} is for and when to use it\n"
    )
    for tool in tools:
        example = f'~~~json\n{{\n    "tool_name": "{tool}{_METHODS.get(tool, "")}",\n    "tool_args": {{}}\n}}\n~~~\n'
        if len(text) + len(example) <= size:
            text += example
    text += "~~~\n" if odd else ""
    number = 1
    while len(text) < size:
        text += f"{number} {tools[0]} takes its arguments as its example shows and answers in words\n"
        number += 1
    return text[:size].rstrip() + "." * (size - len(text[:size].rstrip()))


def stock_text(name: str, generation: str) -> str:
    """The file `agent.system.tool.NAME.md` of a generation, empty if it has none."""
    tools, old, new = STOCK_TOOLS[name]
    size = new if generation == "G3" else old
    if not size or (generation == "G1" and name == "skills"):
        return ""
    text = tool_text(tools, size, odd=generation == "G1" and name == ODD_IN_G1)
    return f"{text}\n\navailable profiles:\n{{{{agent_profiles}}}}" if name == "call_sub" else text


def files_in(system: str, generation: str) -> set[str]:
    """Which prompt files about tools a system prompt holds, whole; fences do not count."""
    words = _words(system)
    texts = {name: _words(stock_text(name, generation).partition("{{")[0]) for name in STOCK_TOOLS}
    return {name for name, text in texts.items() if text and text in words}


def _words(text: str) -> str:
    return " ".join(word for word in text.replace("~~~", " ").replace("```", " ").split() if word != "json")


def remove_fences(text: str) -> str:
    """As hosts do it: an opening fence with the rest of its line, and the next fence of the same kind."""
    return re.sub(r"(```|~~~)[^\n]*\n(.*?)\1", lambda found: found[2], text, flags=re.DOTALL)


def mcp_text(servers: dict[str, Iterable[str]]) -> str:
    """The entry about remote tools, with the marks of the host: a block per server and tool."""
    text = '## "Remote (MCP Server) Agent Tools" available:\n\n'
    for server, tools in servers.items():
        text += f"### {server}\nthe server {server}\n"
        for tool in tools:
            text += f"\n### {server}.{tool}:\nwhat {tool} does\n\n#### Input schema for tool_args:\n{{}}\n\n"
            text += f'#### Usage:\n{{\n    "thoughts": ["..."],\n    "tool_name": "{server}.{tool}",\n'
            text += '    "tool_args": !follow schema above\n}\n'
    return text


def _read(path: str) -> str | None:
    """The text of a file if there is one; tests of whole turns read thousands."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


class Prompts:
    """The prompt folders of one installation."""

    def __init__(self, root: Path, generation: str) -> None:
        self.root = root
        self.generation = generation
        self.reads = 0

    def folders(self, agent: Any) -> list[Path]:
        """Where prompt files lie, the nearest first."""
        profile = agent.config.profile or "agent0"
        folders = [f"agents/{profile}/prompts", "prompts"]
        if self.generation != "G1":
            folders = [f"usr/agents/{profile}/prompts", f"agents/{profile}/prompts", "usr/prompts", "prompts"]
        if self.generation == "G3":
            plugins = [
                path for home in ("usr/plugins", "plugins") for path in sorted(self.root.glob(f"{home}/*"))
            ]
            folders[3:3] = [f"{path.relative_to(self.root)}/prompts" for path in plugins]
        return [self.root / each for each in folders]

    def tool_files(self, agent: Any) -> list[str]:
        """Names of the files about tools; the nearest of a name counts."""
        names = {name for folder in self.folders(agent) for name in _names_in(folder)}
        return sorted(
            each for each in names if each.startswith("agent.system.tool.") and each.endswith(".md")
        )

    def read(self, agent: Any, file: str, **kwargs: Any) -> str:
        """The text of a file as extensions get it; raises `FileNotFoundError`.

        The first generation strips code fences from whatever it has put together, so also from the joined tool section.
        """
        text = self.raw(agent, file, **kwargs)
        return remove_fences(text) if self.generation == "G1" else text

    def raw(self, agent: Any, file: str, **kwargs: Any) -> str:
        """The text of a file with its variables filled in."""
        self.reads += 1
        for folder in self.folders(agent):
            text = _read(f"{folder}/{file}")
            if text is not None:
                if file == "agent.system.tools.md" and self.generation != "G3":
                    kwargs = {"tools": "\n\n".join(self.raw(agent, name) for name in self.tool_files(agent))}
                if file == "agent.system.main.md":
                    text += self._of_profile(agent)
                if file == "agent.system.tool.call_sub.md":
                    kwargs = {"agent_profiles": self.profiles(agent), **kwargs}
                for name, value in kwargs.items():
                    text = text.replace(f"{{{{{name}}}}}", str(value))
                return text
        raise FileNotFoundError(file)

    def profiles(self, agent: Any) -> Any:
        """What the prompt of `call_subordinate` lists: every profile that is enabled, with what it says of itself."""
        if self.generation == "G1":
            return [
                {"name": folder.name, "context": (folder / "_context.md").read_text(encoding="utf-8")}
                for folder in self._folders("agents")
            ]
        found: dict[str, Any] = {}
        for home in ("agents", "usr/agents"):
            for folder in self._folders(home):
                about = self._about(folder)
                # The newest builds list a folder of the user that says nothing of itself.
                if about is None and self.generation == "G3" and home == "usr/agents":
                    about = {}
                if about is not None:
                    found[folder.name] = {**found.get(folder.name, {}), **about}
        shown = {name: about for name, about in found.items() if about.get("enabled", True)}
        return {
            name: {key: about.get(key, "") for key in ("title", "description", "context")}
            for name, about in shown.items()
        }

    def _folders(self, home: str) -> list[Path]:
        place = self.root / home
        return sorted(path for path in place.iterdir() if path.is_dir()) if place.is_dir() else []

    def _about(self, folder: Path) -> dict[str, Any] | None:
        if self.generation == "G3" and (folder / "agent.yaml").is_file():
            return dict(read_yaml_file(folder / "agent.yaml"))
        if (folder / "agent.json").is_file():
            return dict(json.loads((folder / "agent.json").read_text(encoding="utf-8")))
        return None

    def not_found(self, agent: Any, name: str) -> str:
        """What a host answers to a tool name that it does not know: everything that it has, into the history."""
        tools = "\n\n".join(self.read(agent, each) for each in self.tool_files(agent))
        return f"Tool {name} not found. Available tools: \\n{self.read(agent, 'agent.system.tools.md', tools=tools)}"

    def _of_profile(self, agent: Any) -> str:
        """What a profile says of itself, where it has a file for it."""
        file = f"agent.system.main.{'specifics' if self.generation == 'G3' else 'role'}.md"
        for folder in self.folders(agent):
            if (folder / file).is_file():
                return "\n\n" + (folder / file).read_text(encoding="utf-8")
        return ""


def write_prompts(root: Path, generation: str) -> None:
    """Write the prompt files of a stock installation."""
    core = root / "prompts"
    core.mkdir(parents=True, exist_ok=True)
    (core / "agent.system.main.md").write_text(MAIN, encoding="utf-8")
    (core / "agent.system.tools.md").write_text(f"{TOOLS_HEADER}\n{{{{tools}}}}", encoding="utf-8")
    (core / "agent.system.tools_vision.md").write_text(VISION, encoding="utf-8")
    for name in STOCK_TOOLS:
        text = stock_text(name, generation)
        if not text:
            continue
        folder = core
        if generation == "G3" and name in _OF_PLUGINS:
            folder = root / "plugins" / _OF_PLUGINS[name] / "prompts"
            folder.mkdir(parents=True, exist_ok=True)
            (folder.parent / "plugin.yaml").write_text(f"name: {folder.parent.name}\n", encoding="utf-8")
        (folder / f"agent.system.tool.{name}.md").write_text(text, encoding="utf-8")


def write_profiles(root: Path, generation: str) -> None:
    """Write the profiles of a stock installation."""
    for name in ("agent0", "developer", "researcher"):
        folder = root / "agents" / name
        folder.mkdir(parents=True, exist_ok=True)
        about = {
            "title": name.title(),
            "description": f"the {name} of the host",
            "context": f"use it as {name}",
        }
        if generation == "G1":
            (folder / "_context.md").write_text(f"# {name.title()}\n- use it as {name}\n", encoding="utf-8")
        elif generation == "G2":
            (folder / "agent.json").write_text(json.dumps(about), encoding="utf-8")
        else:
            (folder / "agent.yaml").write_text(yaml.safe_dump(about), encoding="utf-8")


_STOCK_OLD = """from python.helpers.extension import Extension
from agent import host_prompts


class SystemPrompt(Extension):
    async def execute(self, system_prompt=[], loop_data=None, **kwargs):
        system_prompt.append(self.agent.read_prompt("agent.system.main.md"))
        system_prompt.append(self.agent.read_prompt("agent.system.tools.md"))
        for entry in host_prompts(self.agent):
            system_prompt.append(entry)
"""
_STOCK_MAIN = """from helpers.extension import Extension


class MainPrompt(Extension):
    async def execute(self, system_prompt=[], loop_data=None, **kwargs):
        system_prompt.append(self.agent.read_prompt("agent.system.main.md"))
"""
_STOCK_TOOLS = """from helpers.extension import Extension
from agent import tool_files


class ToolsPrompt(Extension):
    async def execute(self, system_prompt=[], loop_data=None, **kwargs):
        extra = self.agent.get_data("_tool_prompt_kwargs") or {}
        tools = [self.agent.read_prompt(name, **extra.get(name, {})) for name in tool_files(self.agent)]
        system_prompt.append(self.agent.read_prompt("agent.system.tools.md", tools="\\n\\n".join(tools)))
"""
_STOCK_REST = """from helpers.extension import Extension
from agent import host_prompts
import yaml

from tests.support.yaml_text import read_yaml_file


class RestOfPrompt(Extension):
    async def execute(self, system_prompt=[], loop_data=None, **kwargs):
        system_prompt.extend(host_prompts(self.agent))
"""


def write_stock_extensions(root: Path, generation: str) -> None:
    """Write the extensions by which a stock installation builds its system prompt."""
    home = root / ("extensions/python" if generation == "G3" else "python/extensions") / "system_prompt"
    home.mkdir(parents=True, exist_ok=True)
    files = {"_10_system_prompt.py": _STOCK_OLD}
    if generation == "G3":
        files = {
            "_10_main_prompt.py": _STOCK_MAIN,
            "_11_tools_prompt.py": _STOCK_TOOLS,
            "_13_skills_prompt.py": _STOCK_REST,
        }
    for name, text in files.items():
        (home / name).write_text(text, encoding="utf-8")
