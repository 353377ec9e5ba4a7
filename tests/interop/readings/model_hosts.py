"""Hosts whose readers are inside a program: what they send to a model shows the agents, their tools and their models."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.interop.readings.model_server import ModelServer, find_started
from tests.interop.readings.reading import Reading
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, write_tree

_PACKAGES = REPOSITORY / ".venv" / "readers" / "node_modules"
_MODEL = "m"


def _run(words: list[str], folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a host in a project. It reaches no network address but that of the model server."""
    blocked = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    alone = {
        "PATH": os.environ["PATH"],
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
        **blocked,
        **environment,
    }
    return subprocess.run(
        words, cwd=folder, env=alone, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


class Codex:
    """Codex, whose model starts every agent that is not built in."""

    path = ".codex/agents/a.toml"
    tools = ("apply_patch", "shell", "web_search")
    _own = ("default", "explorer", "worker", "awaiter")
    _program = _PACKAGES / "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"

    def __init__(self, model: ModelServer, home: Path) -> None:
        self._model, self._home = model, home

    def read(self, folder: Path, text: str) -> dict[str, Reading]:
        write_tree(folder, {self.path: text})
        settings = (
            f'model = "{_MODEL}"\nmodel_provider = "local"\nsandbox_mode = "workspace-write"\n[model_providers.local]\nname = "local"\n'
            f'base_url = "{self._model.url}"\nwire_api = "responses"\n[projects."{folder}"]\ntrust_level = "trusted"\n'
        )
        write_tree(self._home, {".codex/config.toml": settings})
        self._model.begin(self._list_agents)
        done = _run(
            [str(self._program), "exec", "--skip-git-repo-check", "x"], folder, {"HOME": str(self._home)}
        )
        requests = self._model.list_requests()
        assert requests, done.stderr
        agents: dict[str, Reading] = {}
        for request in requests:
            name = find_started(request)
            if name is not None:
                agents.setdefault(name, self._build(name, request))
        return agents

    def _list_agents(self, request: Mapping[str, Any]) -> list[str]:
        """The agents that the tool for starting agents describes."""
        for group in request["tools"]:
            for tool in group.get("tools", ()):
                if tool["name"] == "spawn_agent":
                    about = tool["parameters"]["properties"].get("agent_type", {}).get("description", "")
                    return [each for each in re.findall(r"(?m)^(.+): \{$", about) if each not in self._own]
        return []

    def _build(self, name: str, request: Mapping[str, Any]) -> Reading:
        given = {each.get("name", each["type"]) for each in request["tools"]}
        # Patches need no shell: most models have a tool of their own for them.
        tools = {"apply_patch", *({"web_search"} & given), *({"shell"} if "exec_command" in given else ())}
        if "`sandbox_mode` is `read-only`" in str(request["input"]):
            tools.discard("apply_patch")
        return Reading(name, frozenset(tools), "" if request["model"] == _MODEL else request["model"])


class Copilot:
    """The command line of GitHub Copilot, started with each agent."""

    path = ".github/agents/a.agent.md"
    tools = ("agent", "edit", "execute", "read", "search")
    _names: Mapping[str, tuple[str, ...]] = {
        "agent": ("task",), "edit": ("create", "edit"), "execute": ("bash",), "read": ("view",), "search": ("grep", "glob"),
    }  # fmt: skip
    _program = _PACKAGES / "@github/copilot-linux-x64/copilot"
    _available = re.compile(r"No such agent: \S+, available: (.*)")

    def __init__(self, model: ModelServer, home: Path) -> None:
        self._model, self._home = model, home

    def read(self, folder: Path, text: str) -> dict[str, Reading]:
        write_tree(folder, {self.path: text})
        return self.read_project(folder)

    def read_project(self, folder: Path) -> dict[str, Reading]:
        """The agents of a project."""
        listed = self._available.search(self._start(folder, "no_such_agent"))
        agents = {}
        # A name can contain the comma that separates names.
        names = dict.fromkeys((*listed[1].split(", "), listed[1])) if listed else {}
        for name in filter(None, names):
            self._model.begin()
            if "No such agent" in (output := self._start(folder, name)):
                continue
            requests = self._model.list_requests()
            assert requests, output
            given = {each["function"]["name"] for each in requests[0]["tools"]}
            tools = {tool for tool, words in self._names.items() if not given.isdisjoint(words)}
            agents[name] = Reading(name, frozenset(tools))
        return agents

    def _start(self, folder: Path, name: str) -> str:
        environment = {
            "HOME": str(self._home), "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_MODEL": _MODEL,
            "COPILOT_PROVIDER_BASE_URL": self._model.url,
        }  # fmt: skip
        words = [str(self._program), "-p", "x", "--no-auto-update", "--agent", name]
        done = _run(words, folder, environment)
        return done.stdout + done.stderr
