"""A host of each generation to install into and to run: its folders, its modules, a scripted model."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

from tests.agent_zero.double_loader import Extension, Loader
from tests.agent_zero.double_loop import Agent, Host, LoopData, RepairableException, Response, Unknown
from tests.agent_zero.double_prompts import (
    PROJECT,
    SECRETS,
    SKILLS,
    TOOLS_OF_PLUGINS,
    Prompts,
    mcp_text,
    write_profiles,
    write_prompts,
    write_stock_extensions,
)
from tests.agent_zero.double_web import ApiHandler

_OWNED = ("agent", "helpers", "plugins", "python", "tools", "usr")
_TOOLS = [
    "a2a_chat",
    "behaviour_adjustment",
    "browser_agent",
    "code_execution_tool",
    "document_query",
    "input",
    "memory_load",
    "memory_save",
    "memory_delete",
    "memory_forget",
    "notify_user",
    "scheduler",
    "search_engine",
    "skills_tool",
    "text_editor",
    "vision_load",
    "wait",
]


def build_host(root: Path, generation: str) -> Path:
    """Write a stock installation."""
    for folder in ("usr", "agents/agent0", "prompts", "tmp"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    if generation == "G3":
        (root / "helpers").mkdir(exist_ok=True)
        (root / "helpers" / "extension.py").write_text("def get_paths(): ...\n", encoding="utf-8")
    else:
        (root / "python" / "helpers").mkdir(parents=True, exist_ok=True)
        text = "def get_paths(): ...\n" if generation == "G2" else "class Extension: ...\n"
        (root / "python" / "helpers" / "extension.py").write_text(text, encoding="utf-8")
    for name in (*_TOOLS, "response", "call_subordinate", "unknown"):
        file = root / _tool_home(generation, name) / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# a tool of the host\n", encoding="utf-8")
    write_prompts(root, generation)
    write_profiles(root, generation)
    write_stock_extensions(root, generation)
    return root


def _tool_home(generation: str, tool: str) -> str:
    if generation != "G3":
        return "python/tools"
    plugin = TOOLS_OF_PLUGINS.get(tool)
    return f"plugins/{plugin}/tools" if plugin else "tools"


@contextmanager
def running(
    root: Path, generation: str, mcp: Mapping[str, tuple[str, ...]] | None = None, *, fresh: bool = False
) -> Iterator[Host]:
    """A process of that host: its modules can be imported, and its root is on the path.

    Modules of the runtime may be those of an earlier host with the same files, unless all shall be `fresh`.
    """
    host = Host(root, Loader(root, generation), Prompts(root, generation))
    host.tools = {name: _answering(name) for name in _TOOLS}
    host.tools["response"] = lambda text="", **_: Response(str(text), break_loop=True)
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in _OWNED}
    importlib.invalidate_caches()
    path, no_bytecode = list(sys.path), sys.dont_write_bytecode
    compiling = mock.patch.object(SourceFileLoader, "source_to_code", _compile_once)
    try:
        compiling.start()
        for name in before:
            del sys.modules[name]
        sys.modules.update(_modules(host, dict(mcp or {})))
        sources = _sources_of_runtime(root)
        if not fresh and (loaded := _loaded.get(sources)):
            # What was not loaded yet comes from this host: the earlier one may be gone.
            loaded[_RUNTIME].__path__ = [str(root.joinpath(*_RUNTIME.split(".")))]
            sys.modules.update(loaded)
        sys.path.insert(0, str(root))
        sys.dont_write_bytecode = True
        yield host
    finally:
        compiling.stop()
        sys.path[:] = path
        sys.dont_write_bytecode = no_bytecode
        owned = [each for each in sys.modules if each.partition(".")[0] in _OWNED]
        modules = {name: sys.modules.pop(name) for name in owned}
        _loaded.setdefault(sources, {}).update(
            {name: module for name, module in modules.items() if name.startswith(_RUNTIME)}
        )
        sys.modules.update(before)


_RUNTIME = "usr.organizations.lib.orgkernel_agent_zero.runtime"
_loaded: dict[frozenset[tuple[str, bytes]], dict[str, ModuleType]] = {}
"""Modules of the runtime by the sources they come from. They keep nothing of a host, and loading them takes most of the
time of a short test."""


def _sources_of_runtime(root: Path) -> frozenset[tuple[str, bytes]]:
    folder = root.joinpath(*_RUNTIME.split("."))
    return frozenset((path.name, path.read_bytes()) for path in folder.glob("*.py"))


_compiled: dict[bytes, CodeType] = {}


def _compile_once(self: SourceFileLoader, data: bytes, path: str, **_: Any) -> CodeType:
    """The code of a module. Each test has a copy of our files, and compiling them takes most of its time."""
    if data not in _compiled:
        _compiled[data] = compile(data, path, "exec", dont_inherit=True)
    return _compiled[data]


def _answering(name: str) -> Callable[..., Response]:
    return lambda **_: Response(f"{name} has done it")


def _modules(host: Host, mcp: Mapping[str, tuple[str, ...]]) -> dict[str, ModuleType]:
    """What extensions import from this generation."""
    generation = host.loader.generation
    prefix = "helpers" if generation == "G3" else "python.helpers"
    modules: dict[str, ModuleType] = {}
    tools = "tools.unknown" if generation == "G3" else "python.tools.unknown"
    host.unknown = type("Unknown", (Unknown,), {"__module__": tools})

    def define(name: str, **values: Any) -> None:
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            part = ".".join(parts[:end])
            if part not in modules:
                modules[part] = ModuleType(part)
                modules[part].__path__ = []
                if end > 1:
                    setattr(modules[".".join(parts[: end - 1])], parts[end - 1], modules[part])
        for key, value in values.items():
            setattr(modules[name], key, value)

    define(f"{prefix}.extension", Extension=Extension)
    define(f"{prefix}.errors", RepairableException=RepairableException)
    define(f"{prefix}.tool", Response=Response)
    define(f"{prefix}.files", get_abs_path=lambda *parts: str(host.root.joinpath(*parts)))
    if generation == "G3":

        def validate(agent: Any, profile: str) -> str:
            if profile and host.newest and profile not in host.profiles():
                raise RepairableException(f"Agent profile '{profile}' not found.")
            return profile

        define("helpers.parallel_tools")
        define("tools.call_subordinate", _validate_subordinate_profile=validate)

        def get_chat_model_config(agent: Any = None) -> dict[str, Any]:
            return {
                "provider": "openrouter",
                "name": "example/large",
                "ctx_length": host.window,
                "kwargs": {"api_key": "sk-never-write-this-anywhere-0123456789"},
            }

        define("plugins._model_config.helpers.model_config", get_chat_model_config=get_chat_model_config)
        define("helpers.api", ApiHandler=ApiHandler, Request=object)
    remote = tuple(f"{server}.{tool}" for server, tools in mcp.items() for tool in tools)
    host.tools.update({name: _answering(name) for name in remote if name not in host.tools})
    servers = SimpleNamespace(
        has_tool=lambda name: name in remote,
        get_tool=lambda _, name: name in remote,
        get_tools=lambda: [{name: {"name": name.partition(".")[2]}} for name in remote],
    )
    define(f"{prefix}.mcp_handler", MCPConfig=SimpleNamespace(get_instance=lambda: servers))
    rest = [SKILLS, SECRETS, PROJECT] if generation != "G1" else [SECRETS, PROJECT]
    define(
        "agent",
        Agent=Agent,
        LoopData=LoopData,
        tool_files=host.prompts.tool_files,
        raw_prompt=host.prompts.raw,
        host_prompts=lambda _: ([mcp_text(dict(mcp))] if mcp else []) + rest,
    )
    return modules
