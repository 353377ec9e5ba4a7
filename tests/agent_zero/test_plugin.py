"""The plugin of the third generation: its manifest, and its handler that shows what the layer is doing."""

from __future__ import annotations

import asyncio
import re
import sys
from types import SimpleNamespace

import pytest

from tests.agent_zero.double_web import load_handler
from tests.agent_zero.installing import EXTENSION, activate
from tests.agent_zero.saying import answer, call
from tests.support.yaml_text import read_yaml_file


@pytest.fixture
def generation():
    """The only one that has plugins."""
    return "G3"


def ask(started, context=""):
    sys.modules["agent"].AgentContext = SimpleNamespace(
        get=lambda _: SimpleNamespace(agent0=started.agent, streaming_agent=None)
    )
    return asyncio.run(load_handler(started.root, "status")(None, None).process({"context": context}, None))


def test_the_manifest_has_the_keys_of_the_host_and_the_name_of_its_folder():
    """Nothing else is read, and another name would not be found."""
    manifest = read_yaml_file(EXTENSION / "plugin/plugin.yaml")
    assert manifest["name"] == "orgkernel"
    assert re.fullmatch(r"[a-z0-9_]+", manifest["name"])
    assert set(manifest) <= {"name", "title", "description", "version", "settings_sections", "per_project_config", "per_agent_config", "always_enabled"}  # fmt: skip
    assert set(manifest["settings_sections"]) <= {"agent", "external", "mcp", "developer", "backup"}
    assert {"LICENSE", "README.md", "webui", "api"} <= {
        path.name for path in (EXTENSION / "plugin").iterdir()
    }


def test_the_handler_shows_role_tier_and_last_report(started):
    """What the page prints."""
    activate(started.root)
    started.agent = started.host.open_chat()
    started.host.say(started.agent, "Fix the bug in parser.py", [call("browser_agent"), answer()])
    shown = ask(started, "chat0001")
    assert (shown["on"], shown["role_name"], shown["tier"]) == (True, "Bugfix Specialist", "primary")
    assert shown["report"]["status"]["state"] == "complete"
    assert shown["enforcement"] == "enforce"
    assert "code_execution_tool" in shown["tools"]


@pytest.mark.parametrize("state", ["off", "broken", "no_chat", "small_talk"])
def test_the_handler_says_why_there_is_nothing_to_show(started, state):
    """It never raises into the host."""
    started.agent = started.host.open_chat()
    if state != "off":
        activate(started.root)
    if state == "broken":
        (started.root / "usr/organizations/active.json").write_text("{", encoding="utf-8")
    if state == "small_talk":
        started.host.say(started.agent, "what time is it")
    shown = ask(started, "" if state == "no_chat" else "chat0001")
    assert shown["on"] == (state in ("no_chat", "small_talk"))
    assert shown["why"]
