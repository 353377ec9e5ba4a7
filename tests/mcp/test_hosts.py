"""What the page about hosts shows: its code calls through a gateway, and its files are what a host can read and start."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.keys import first_key, location_of, new_key
from tests.docs.shown import File, steps_of
from tests.gateway.shop import OWN_TOOLS
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, write_tree

PYTHON = REPOSITORY / ".venv" / "hosts" / "bin" / "python"
BIN = Path(sys.executable).parent
HOW_TO = REPOSITORY / "docs" / "how-to"
PORT = "8100"
_BLOCK = re.compile(r"^```(json|toml|python)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_REFUSAL = """\
ask: `{subject}` `use` `tool:refund`
because policy `refunds-ask` requires an approval for tool `refund` (shop/org.yaml:37) [ASK_APPROVAL]
request `REQUEST` waits for an approval of exactly this call, until TIME
who can approve it: an operator, with `orgkernel request approve REQUEST`
then call again with the same arguments
smallest change: grant `tool:refund` at level `write`
  command: `orgkernel grant issue {subject} tool:refund --level write --org shop`
or: remove policy `refunds-ask`
  edit shop/org.yaml:34: write `enabled: false` under `policies.refunds-ask`
who can grant it: an operator
who can do it instead: `role:lead`, `agent:leo`"""


def blocks_of(section: str) -> list[tuple[str, str]]:
    """The blocks of a section of the page, as languages and texts."""
    page = (HOW_TO / "hosts.md").read_text(encoding="utf-8")
    _, _, rest = page.partition(f"\n## {section}\n")
    return _BLOCK.findall(rest.partition("\n## ")[0])


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The organization and the server of the page about the gateway."""
    page = (HOW_TO / "gateway.md").read_text(encoding="utf-8")
    shown = {step.name: step.text for step in steps_of(page) if isinstance(step, File)}
    del shown["orgkernel.toml"]  # it names an identity provider, for a gateway with tokens
    return write_tree(tmp_path_factory.mktemp("shop"), shown)


@pytest.fixture(scope="module")
def environment(shop: Path) -> dict[str, str]:
    """The variables of a host."""
    return {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(shop)}


@pytest.fixture(scope="module")
def over_http(shop: Path, environment: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The port of a gateway for all agents, and the key of the one that is a clerk."""
    store = location_of(shop / ".orgkernel" / "state.db")
    (shop / ".orgkernel").mkdir(exist_ok=True)
    first_key(store)
    key = new_key(store, ("read", "report", "request"), agent="ann")
    words = ("gateway", "--http", "127.0.0.1:0", "--path", "shop", "--mcp-config", "mcp.json")
    process = subprocess.Popen(
        [BIN / "orgkernel", *words], cwd=shop, env=environment, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        said = ""
        for line in process.stderr:
            said += line
            if line.startswith("Stop with"):
                break
        found = re.search(r"gateway on http://127\.0\.0\.1:(\d+)/mcp", said)
        assert found, said
        reader = threading.Thread(target=process.stderr.read, daemon=True)
        reader.start()
        yield found[1], key
        process.terminate()
        reader.join(PATIENCE)
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stderr.close()


@pytest.mark.parametrize(
    ("framework", "section", "transport"),
    [
        ("openai", "OpenAI Agents SDK", "stdio"),
        ("langgraph", "LangGraph", "http"),
        pytest.param("openai", "OpenAI Agents SDK", "http", marks=pytest.mark.nightly),
        pytest.param("langgraph", "LangGraph", "stdio", marks=pytest.mark.nightly),
    ],
)
def test_the_code_of_a_framework_calls_as_its_role(
    framework: str, section: str, transport: str, shop: Path, environment: dict[str, str], request: Any
) -> None:
    """A model is offered the tools of the clerk and nothing else, gets a result, and is handed a refusal as a whole."""
    if not PYTHON.exists():
        pytest.skip("the frameworks are not installed: run `make .venv/hosts.stamp`")
    started, reached = [text for language, text in blocks_of(section) if language == "python"]
    subject = "role:clerk"
    if transport == "http":
        port, key = request.getfixturevalue("over_http")
        started = reached.replace(f":{PORT}/", f":{port}/")
        environment = environment | {"ORGKERNEL_KEY": key}
        subject = "agent:ann"
    file = shop / f"{framework}_{transport}.py"
    file.write_text(started, encoding="utf-8")
    calls = [["desk__find_order", {"order": 7}], ["desk__refund", {"order": 7, "euros": 20}]]
    done = subprocess.run(
        [PYTHON, Path(__file__).with_name("framework_calls.py"), framework, file, json.dumps(calls)],
        cwd=shop, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["tools"] == ["desk__find_order", "desk__refund", *OWN_TOOLS]
    result, refusal = told["results"]
    assert result == "order 7: two chairs"
    refusal = re.sub(r"until \S+Z", "until TIME", re.sub(r"r-[0-9a-f]{12}", "REQUEST", refusal))
    assert refusal == _REFUSAL.format(subject=subject)


HOSTS = ("Claude Code", "VS Code", "Codex", "Cursor")


def servers_in(section: str) -> list[dict[str, Any]]:
    """The servers in the first two files of a host: one that it starts, and one that it reaches."""
    found = []
    for language, text in blocks_of(section)[:2]:
        read = json.loads(text) if language == "json" else tomllib.loads(text)
        (servers,) = (read[name] for name in ("mcpServers", "servers", "mcp_servers") if name in read)
        (server,) = servers.values()
        found.append(server)
    return found


@pytest.mark.parametrize("host", HOSTS)
def test_the_files_of_a_host_name_the_gateway_alone(host: str) -> None:
    """They are valid JSON and TOML; the key is in a variable, and the URL is where the other page starts the gateway."""
    for language, text in blocks_of(host):
        json.loads(text) if language == "json" else tomllib.loads(text)
    started, reached = servers_in(host)
    assert started["command"] == "orgkernel"
    assert started["args"][0] == "gateway"
    assert reached["url"] == f"http://127.0.0.1:{PORT}/mcp"
    assert f"--http 127.0.0.1:{PORT}" in (HOW_TO / "gateway.md").read_text(encoding="utf-8")
    said = reached.get("bearer_token_env_var") or reached["headers"]["Authorization"].removeprefix("Bearer ")
    assert re.fullmatch(r"ORGKERNEL_KEY|\$\{(env:)?ORGKERNEL_KEY\}|\$\{input:key\}", said)


def test_the_command_of_every_host_starts_a_gateway(shop: Path, environment: dict[str, str]) -> None:
    """It answers the handshake, and ends when its host does."""
    for words in {tuple(servers_in(host)[0]["args"]) for host in HOSTS}:
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        done = subprocess.run(
            [BIN / "orgkernel", *words], cwd=shop, env=environment, input=json.dumps(asked) + "\n",
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "orgkernel-gateway"
