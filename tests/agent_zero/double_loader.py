"""How a generation of Agent-Zero finds, loads and calls extensions, in the same way and as unguarded.

One class is taken from a file, the alphabetically last one; a new object is made for every call; files of all folders
are sorted by name, and of two with one name the nearer one runs; nothing is isolated.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

GENERATIONS = ("G1", "G2", "G3")
PLAIN_IN_G3 = frozenset({"agent_init", "hist_add_before", "hist_add_tool_result"})
EXTENSION_HOME = {
    "G1": "python/extensions",
    "G2": "usr/extensions",
    "G3": "usr/plugins/orgkernel/extensions/python",
}
"""Where we are installed."""


class Extension:
    """The base class that a host hands to its extensions."""

    def __init__(self, agent: Any, **kwargs: Any) -> None:
        self.agent = agent
        self.kwargs = kwargs


class Loader:
    """The extensions of one process: what was loaded once stays as it was."""

    def __init__(self, root: Path, generation: str) -> None:
        self.root = root
        self.generation = generation
        self._classes: dict[Path, list[tuple[str, type[Extension]]]] = {}

    def folders(self, hook: str, profile: str, project: str | None) -> list[Path]:
        """Where files of a hook lie, the nearest first."""
        if self.generation == "G1":
            relative = [f"agents/{profile}/extensions/{hook}", f"python/extensions/{hook}"]
        else:
            inner = f"extensions/{hook}" if self.generation == "G2" else f"extensions/python/{hook}"
            near = f"usr/projects/{project}/.a0proj/" if project else None
            relative = [f"{near}agents/{profile}/{inner}", f"{near}{inner}"] if near else []
            relative += [f"usr/agents/{profile}/{inner}"]
            relative += [f"{plugin}/agents/{profile}/{inner}" for plugin in self._plugins()]
            relative += [f"agents/{profile}/{inner}", f"usr/{inner}"]
            relative += [f"{plugin}/{inner}" for plugin in self._plugins()]
            relative += [f"python/{inner}" if self.generation == "G2" else inner]
        return [self.root / each for each in relative]

    def _plugins(self) -> Iterator[str]:
        if self.generation == "G3":
            for home in ("usr/plugins", "plugins"):
                for manifest in sorted(self.root.glob(f"{home}/*/plugin.yaml")):
                    if not (manifest.parent / ".toggle-0").exists():
                        yield f"{home}/{manifest.parent.name}"

    def classes(self, hook: str, profile: str, project: str | None) -> list[type[Extension]]:
        """The classes of a hook in the order in which they run."""
        nearest: dict[str, type[Extension]] = {}
        for folder in self.folders(hook, profile, project):
            for name, found in self._load(folder):
                nearest.setdefault(name, found)
        return [nearest[name] for name in sorted(nearest)]

    def _load(self, folder: Path) -> list[tuple[str, type[Extension]]]:
        if folder not in self._classes:
            files = sorted(folder.glob("*.py")) if folder.is_dir() else []
            self._classes[folder] = [(file.stem, found) for file in files for found in _last_class(file)]
        return self._classes[folder]

    async def call(self, hook: str, agent: Any, **kwargs: Any) -> None:
        """Run a hook that the loop awaits."""
        for cls in self.classes(hook, *_identity(agent)):
            done = cls(agent=agent).execute(**kwargs)  # type: ignore[attr-defined]
            if self.generation != "G3" or inspect.isawaitable(done):
                await done

    def call_plain(self, hook: str, agent: Any, **kwargs: Any) -> None:
        """Run a hook from plain code: G1 and G2 drive a coroutine there, G3 takes plain functions only."""
        if self.generation != "G3":
            drive(self.call(hook, agent, **kwargs))
            return
        assert hook in PLAIN_IN_G3
        for cls in self.classes(hook, *_identity(agent)):
            done = cls(agent=agent).execute(**kwargs)  # type: ignore[attr-defined]
            if inspect.isawaitable(done):
                raise ValueError(f"{cls.__name__} of {hook} must not be async")


def _identity(agent: Any) -> tuple[str, str | None]:
    if agent is None:
        return "agent0", None
    return agent.config.profile or "agent0", agent.context.get_data("project")


def _last_class(file: Path) -> list[type[Extension]]:
    spec = importlib.util.spec_from_file_location(file.stem, file)  # by path, under its bare name
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    named = [
        each
        for _, each in inspect.getmembers(module, inspect.isclass)
        if issubclass(each, Extension) and each is not Extension
    ]
    return named[-1:]


def drive(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never really waits, from within a running loop or without one."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise AssertionError("an extension waited for something in a hook that plain code calls")
