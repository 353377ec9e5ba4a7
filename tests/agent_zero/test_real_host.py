"""The same in a real checkout: `A0_ROOT` names one or several, `A0_PYTHON` a Python that can import them.

Without `A0_ROOT` these are not there. The checkout itself is never written to: a copy is. The driver is tried on our
doubles, so that what fails in a real host is the host or the extension.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from orgkernel.exchange.agent_zero.host import find_generation, open_host
from tests.agent_zero.installing import EXTENSION, activate, deactivate
from tests.agent_zero.neighbors import add_neighbors, publish_plain_warnings
from tests.agent_zero.real_driver import drive
from tests.agent_zero.saying import answer, call, reports, shell
from tests.support.patience import PATIENCE

ROOTS = [root for root in os.environ.get("A0_ROOT", "").split(os.pathsep) if root]
BUG = "Fix the bug in parser.py"
TURNS = [call("browser_agent", message="x", reset="true"), shell(), answer("fixed")]


@pytest.fixture(params=ROOTS or ["none"])
def real(request, tmp_path):
    """A copy of a checkout with our extension."""
    root = tmp_path / "a0"
    shutil.copytree(
        request.param, root, symlinks=True, ignore=shutil.ignore_patterns(".git", "node_modules", "tmp")
    )
    subprocess.run(["bash", EXTENSION / "install_org_kernel.sh", root], check=True, capture_output=True)
    return root


def run(root: Path, message: str, turns: list, profile: str = "") -> dict:
    """One user turn in a process of the host."""
    script = root / "orgkernel_script.json"
    script.write_text(json.dumps({"message": message, "turns": turns, "profile": profile}), encoding="utf-8")
    python = os.environ.get("A0_PYTHON", sys.executable)
    driver = Path(__file__).with_name("real_driver.py")
    done = subprocess.run(
        [python, driver, script], cwd=root, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    found: dict = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.real_host
def test_a_real_host_is_as_without_us_until_an_organization_is_active(real):
    """Whole prompts, every call, nothing in the log, nothing on the disk."""
    found = run(real, BUG, TURNS)
    assert found["said"] == "fixed"
    assert found["ran"] == ["browser_agent", "code_execution_tool"]
    assert found["role"] is None
    assert not any("[ORG]" in line for line in found["log"])
    assert reports(real) == {}


@pytest.mark.real_host
def test_a_role_has_its_effect_in_a_real_host(real):
    """The first prompt is trimmed, a foreign call is refused, the report is written; switched off, all is as before."""
    before = run(real, BUG, TURNS)
    activate(real)
    found = run(real, BUG, TURNS)
    assert found["said"] == "fixed"
    assert found["role"] == "bugfix_specialist"
    assert found["plans"] == ["bugfix_workflow", "log_investigation"]
    assert found["ran"] == ["code_execution_tool"]
    assert any("[ORG] Role activated: Bugfix Specialist" in line for line in found["log"])
    assert len(found["systems"][0]) < 0.8 * len(before["systems"][0])
    assert "You are the Bugfix Specialist" in found["systems"][0]
    assert reports(real)["bugfix_specialist"]["status"]["state"] == "complete"
    deactivate(real)
    assert run(real, BUG, TURNS)["systems"] == before["systems"]


@pytest.mark.real_host
def test_nothing_that_is_said_in_a_turn_moves_its_role_in_a_real_host(real):
    """A tracker reads our refusals and every result; the gate stays, and each prompt shows the same tools."""
    generation = find_generation(open_host(str(real))).name
    add_neighbors(real, generation, "belief")
    publish_plain_warnings(real)
    activate(real)
    asked = [
        call("browser_agent", message=f"who owns docker, git or module {number}", reset="true")
        for number in range(3)
    ]
    found = run(real, BUG, [*asked, shell("echo git docker module"), *asked[:1], answer("fixed")])
    assert (found["said"], found["role"]) == ("fixed", "bugfix_specialist")
    assert found["ran"] == ["code_execution_tool"]
    assert all("You are the Bugfix Specialist" in system for system in found["systems"])
    assert len([line for line in found["log"] if "[ORG] Role " in line]) == 1


@pytest.mark.real_host
def test_a_pin_in_a_real_host_takes_what_the_words_would_give_to_another(real):
    """The rest of the message is the task."""
    activate(real)
    found = run(real, f"/role osint {BUG}", [answer("looked")])
    assert (found["said"], found["role"]) == ("looked", "osint_specialist")
    assert any("[ORG] Pinned: OSINT Specialist" in line for line in found["log"])


@pytest.mark.real_host
def test_small_talk_in_a_real_host_has_no_role(real):
    """No false role."""
    activate(real)
    found = run(real, "what time is it", [answer("noon")])
    assert (found["said"], found["role"]) == ("noon", None)


@pytest.mark.real_host
def test_delegation_and_unknown_tools_in_a_real_host(real):
    """A call without a profile gets the role that the message fits; a misspelled tool does not reach the host."""
    activate(real)
    turns = [call("serch_engine", query="x"), call("call_subordinate", message=BUG), answer("handed on")]
    found = run(real, "Lead", turns, "engineering_xo")
    assert found["ran"] == ["call_subordinate"]
    # Builds that refuse unlisted profiles get none; there the subordinate takes the role that it was called for.
    assert found["arguments"][0]["profile"] in ("bugfix_specialist", "")
    assert any("Refused `serch_engine`" in line for line in found["log"])
    assert any("delegates to Bugfix Specialist" in line for line in found["log"])


def test_the_driver_drives_a_double_in_the_same_way(started, monkeypatch):
    """What it patches, calls and reads is there, and it reports what happened."""
    activate(started.root)
    module = sys.modules["agent"]
    host = started.host

    class Agent(module.Agent):
        async def _iterate(self):
            prompt = await self._prepare_prompt()
            await self.call("before_main_llm_call", loop_data=self.loop_data)
            text, _ = await self.call_chat_model(messages=[SimpleNamespace(content=prompt.system)])
            self.hist_add_ai_response(text)
            request = json.loads(text)
            tool = self.get_tool(request["tool_name"])
            if hasattr(tool, "execute"):
                result = await tool.execute()
                host.tools[request["tool_name"]] = lambda **_: result
            return await self._process_tools(request)

        def get_tool(self, name, *args, **kwargs):
            return SimpleNamespace()

    class AgentContext:
        def __init__(self, config):
            opened = host.open_chat()
            opened.__class__ = Agent
            self.agent0, opened.context.task = opened, None
            self.log = SimpleNamespace(logs=[])
            opened.context.task = SimpleNamespace(is_alive=lambda: True)
            inner = opened.context.log.log
            opened.context.log.log = lambda **entry: (
                self.log.logs.append(
                    SimpleNamespace(heading=entry.get("heading"), content=entry.get("content"))
                )
                or inner(**entry)
            )

    add = Agent.hist_add_user_message
    Agent.hist_add_user_message = lambda self, message: add(self, message.message)
    monkeypatch.setattr(module, "Agent", Agent)
    monkeypatch.setattr(module, "AgentContext", AgentContext, raising=False)
    monkeypatch.setattr(module, "UserMessage", SimpleNamespace, raising=False)
    monkeypatch.setitem(sys.modules, "initialize", SimpleNamespace(initialize_agent=lambda: None))
    found = drive(BUG, TURNS)
    assert found["said"] == "fixed"
    assert found["role"] == "bugfix_specialist"
    assert any("[ORG] Role activated: Bugfix Specialist" in line for line in found["log"])
    assert "You are the Bugfix Specialist" in found["systems"][0]
