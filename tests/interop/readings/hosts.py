"""Hosts that read an agent's file with their own reader, each as a program of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol

from orgkernel.loading.formats.claude_code.host_table import read_host_table
from tests.interop.readings.reading import Reading
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, write_tree

READERS = REPOSITORY / ".venv" / "readers"
_PACKAGES = READERS / "node_modules"
_CLAUDE = REPOSITORY / ".venv" / "claude" / "lib"
_SCRIPT = Path(__file__).with_name("gemini_cli.mjs")


class Host(Protocol):
    """The reader of a host."""

    path: str
    """The path of an agent's file in a project."""
    tools: tuple[str, ...]
    """The tools that are compared: built-in ones that every agent has if nothing takes them away."""

    def read(self, folder: Path, text: str) -> Mapping[str, Reading]:
        """The agents that the host loads from a file with this text. `folder` does not exist yet."""
        ...


class GeminiCli:
    """Gemini CLI's loader of agents, in one process of Node.js. An agent's tools are resolved as its executor does."""

    path = ".gemini/agents/a.md"
    tools = ("read_file", "run_shell_command", "write_file", "replace", "glob", "grep_search", "web_fetch")

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def read(self, folder: Path, text: str) -> dict[str, Reading]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if isinstance(answer, dict):
            return {}
        return {each["name"]: self._build(each) for each in answer}

    def _build(self, agent: Mapping[str, Any]) -> Reading:
        given = self.tools if "*" in agent["tools"] else agent["tools"]
        model = "" if agent["model"] == "inherit" else agent["model"]
        return Reading(agent["name"], frozenset(given) & frozenset(self.tools), model)


class OpenCode:
    """OpenCode's server, asked for the agents of a folder. Its permissions are resolved as it does: the last one counts."""

    path = ".opencode/agents/a.md"
    tools = ("read", "edit", "write", "bash", "glob", "grep", "webfetch", "todowrite")
    _permissions: Mapping[str, str] = {"write": "edit"}

    def __init__(self, url: str) -> None:
        self._url = url

    def read(self, folder: Path, text: str) -> dict[str, Reading]:
        write_tree(folder, {self.path: text})
        try:
            with urllib.request.urlopen(
                f"{self._url}/agent?directory={folder}", timeout=PATIENCE
            ) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            if error.code == 400:
                return {}  # with one faulty file, it loads no agent at all
            raise
        return {each["name"]: self._build(each) for each in answer if not each.get("native")}

    def _build(self, agent: Mapping[str, Any]) -> Reading:
        usable = frozenset(each for each in self.tools if self._is_usable(each, agent["permission"]))
        model = agent.get("model")
        return Reading(
            agent["name"], usable, f"{model['providerID']}/{model['modelID']}".rstrip("/") if model else ""
        )

    def _is_usable(self, tool: str, rules: list[dict[str, str]]) -> bool:
        """As `Permission.disabled`: a tool is removed if the last rule about it denies all of it."""
        permission = self._permissions.get(tool, tool)
        about = [each for each in rules if fnmatchcase(permission, each["permission"].replace("[", "[[]"))]
        return not (about and about[-1]["pattern"] == "*" and about[-1]["action"] == "deny")


class ClaudeCode:
    """Claude Code, started with an agent. It states the tools and the model before it calls a model, and is ended then."""

    path = ".claude/agents/a.md"
    tools = ("Read", "Edit", "Write", "Bash", "NotebookEdit", "WebFetch", "WebSearch")

    def __init__(self, program: Path, home: Path) -> None:
        self._program, self._home = program, home

    def read(self, folder: Path, text: str) -> dict[str, Reading]:
        write_tree(folder, {self.path: text})
        return self.read_project(folder)

    def read_project(self, folder: Path) -> dict[str, Reading]:
        """The agents of a project."""
        started = self._start(folder, ())
        names = [each for each in started["agents"] if each not in self._own]
        return {each: self._build(each, started, self._start(folder, ("--agent", each))) for each in names}

    _own = frozenset(read_host_table()["built_in_agents"])

    def list_own(self, folder: Path) -> tuple[frozenset[str], frozenset[str]]:
        """The tools and the agents that it brings."""
        started = self._start(folder, ())
        return frozenset(started["tools"]), frozenset(started["agents"])

    def _build(self, name: str, session: Mapping[str, Any], started: Mapping[str, Any]) -> Reading:
        model = "" if started["model"] == session["model"] else started["model"]
        return Reading(name, frozenset(started["tools"]) & frozenset(self.tools), model)

    def _start(self, folder: Path, words: tuple[str, ...]) -> dict[str, Any]:
        """What it states at the start. Nothing is there that answers, so it cannot call a model."""
        environment = {
            "HOME": str(self._home), "PATH": "/usr/bin:/bin", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
        }  # fmt: skip
        process = subprocess.Popen(
            [self._program, "-p", "-", "--output-format", "stream-json", "--verbose", *words],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        lines = []
        try:
            for line in process.stdout:
                lines.append(line)
                if '"subtype":"init"' in line:
                    return dict(json.loads(line))
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        raise AssertionError("".join(lines))


def find_claude_code(home: Path) -> ClaudeCode:
    """Claude Code, with an empty home folder."""
    return ClaudeCode(next(_CLAUDE.glob("python*/site-packages/claude_agent_sdk/_bundled/claude")), home)


@contextmanager
def start_gemini_cli() -> Iterator[GeminiCli]:
    """Gemini CLI's loader."""
    process = subprocess.Popen(
        [READERS / "bin" / "node", _SCRIPT, _PACKAGES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield GeminiCli(process)
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.wait(PATIENCE)
        process.stdout.close()


@contextmanager
def start_opencode(home: Path) -> Iterator[OpenCode]:
    """OpenCode's server, which has no model and no account."""
    program = next(_PACKAGES.glob("opencode-*/bin/opencode"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    # Otherwise it installs packages into the folder of each project.
    environment = {
        "HOME": str(home), "PATH": os.environ["PATH"], "OPENCODE_PURE": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1", "npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0",
    }  # fmt: skip
    process = subprocess.Popen(
        [program, "serve", "--port", str(port)], cwd=home, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        while "listening" not in (line := process.stdout.readline()):
            assert line, "the server ended"
        yield OpenCode(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()
