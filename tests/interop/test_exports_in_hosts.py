"""Exported agents in their own hosts: each has exactly the tools that the organization gives its role.

`make nightly` starts the hosts. The exports to Open Agent Spec, the Microsoft Agent Framework and CrewAI are read by their own
loaders in tests/exchange/test_checkers.py, and the others by readers of their languages in tests/exchange.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from orgkernel.exchange.formats import EXPORTS
from tests.exchange.organizations import view_of
from tests.interop.readings import hosts, model_hosts
from tests.interop.readings.model_server import start_model_server
from tests.support.depth import DEPTH
from tests.support.trees import write_tree

_TOOLS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "look": ({"claude_code": "Read", "copilot": "read"}, {"side_effects": "read"}),
    "run": ({"claude_code": "Bash", "copilot": "execute"}, {"side_effects": "destructive"}),
}
# The most hostile texts only: a host needs seconds for each agent.
_NAMES = (
    "- item\n---\nname: other\ntools: '*'", "Reads --- only.\n---- all", "---", "a: b # c", "'single' \"double\" \\ back", "*star &anchor !tag %at",
    "yes", "1_000", "[a]", "{a}", "a, b", "../a", "- a", "a\u2028b\u0085c\r\td",
)  # fmt: skip


def build_documents() -> dict[str, Any]:
    """A role for each hostile text, as its name and its description. Every second one has the tool `run`, the others `look`."""
    roles = {f"r{number}": text for number, text in enumerate(_NAMES)}
    documents: dict[str, Any] = {
        "org.json": {"_schema": "orgkernel:organization", "org_id": "hostile", "hierarchy": {"top": {"subordinates": [*roles]}}},
        "top.json": {"_schema": "orgkernel:role_profile", "role_id": "top", "description": "Leads.", "chain_of_command": {"reports_to": "user"}},
        "tools.json": {
            "_schema": "orgkernel:tool_catalog",
            "tools": {tool: {"type": "remote_api", "names": names, **more} for tool, (names, more) in _TOOLS.items()},
        },
    }  # fmt: skip
    for role, text in roles.items():
        documents[f"{role}.json"] = {
            "_schema": "orgkernel:role_profile", "role_id": role, "role_name": text, "description": text, "standing_orders": [text],
            "capabilities": {"tools_primary": [get_tool(role)]},
        }  # fmt: skip
    return documents


def get_tool(role: str) -> str:
    """The only tool of a role."""
    return "run" if int(role[1:]) % 2 else "look"


def export(folder: Path, target: str) -> dict[str, str]:
    """The files of an export."""
    return dict(EXPORTS[target].export(view_of(folder, build_documents())).files)


def expected(host: str) -> dict[str, frozenset[str]]:
    """The tools of each agent, as the host names them."""
    tools = {
        f"r{number}": frozenset({_TOOLS[get_tool(f"r{number}")][0][host]}) for number in range(len(_NAMES))
    }
    return {"top": frozenset(), **tools}


@pytest.mark.parametrize(("target", "host"), [("claude-code", "claude_code"), ("copilot", "copilot")])
def test_readers_of_yaml_find_the_tools_of_each_agent(tmp_path: Path, target: str, host: str) -> None:
    """Wherever they end the front matter: at a line of three dashes, at a line that begins with them, or at the first ones."""
    files = {
        Path(path).name.split(".")[0]: text
        for path, text in export(tmp_path, target).items()
        if path.endswith(".md")
    }
    for ending in (r"---\n(.*?\n)---\n", r"---\n(.*?\n)---", r"---\n(.*?)---"):
        found = {}
        for name, text in files.items():
            match = re.match(ending, text, re.DOTALL)
            assert match is not None
            found[name] = frozenset(yaml.safe_load(match[1])["tools"]) - {"Agent"}
        assert found == expected(host)


if DEPTH > 1:

    @pytest.mark.nightly
    def test_claude_code_gives_each_exported_agent_its_tools(
        tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """Started with each agent."""
        project = write_tree(tmp_path / "project", export(tmp_path / "made", "claude-code"))
        host = hosts.find_claude_code(tmp_path_factory.mktemp("home"))
        found = {name: each.tools for name, each in host.read_project(project).items()}
        assert found == expected("claude_code")

    @pytest.mark.nightly
    def test_copilot_gives_each_exported_agent_its_tools(
        tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """Started with each agent."""
        project = write_tree(tmp_path / "project", export(tmp_path / "made", "copilot"))
        with start_model_server() as model:
            host = model_hosts.Copilot(model, tmp_path_factory.mktemp("home"))
            found = {name: each.tools for name, each in host.read_project(project).items()}
        assert found == expected("copilot")
