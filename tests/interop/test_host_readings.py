"""Agents' files are read as their hosts read them: name, tools and model, compared with the host's own reader.

`make test` compares with recorded readings. `make nightly` asks the hosts themselves, also about generated files.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from orgkernel.loading.formats import read_built_in_tools
from orgkernel.loading.formats.claude_code.host_table import read_host_table
from tests.interop.readings import hosts, model_hosts
from tests.interop.readings.files import agent_files, codex_files
from tests.interop.readings.model_server import start_model_server
from tests.interop.readings.reading import Reading, find_disagreements, read_with_orgkernel
from tests.support.depth import DEPTH
from tests.support.yaml_text import read_yaml_file

_FOLDER = Path(__file__).with_name("readings")
RECORDED: list[dict[str, Any]] = read_yaml_file(_FOLDER / "recorded.yaml")["cases"]
_numbers = itertools.count()
_HOSTS: Mapping[str, type[hosts.Host]] = {
    "claude-code": hosts.ClaudeCode,
    "codex": model_hosts.Codex,
    "copilot": model_hosts.Copilot,
    "gemini-cli": hosts.GeminiCli,
    "opencode": hosts.OpenCode,
}


def recorded_reading(case: Mapping[str, Any]) -> dict[str, Reading]:
    """What the host said about the file of a case."""
    return {name: Reading(name, frozenset(tools)) for name, tools in case["agents"].items()}


@pytest.mark.parametrize("case", RECORDED, ids=[f"{each['host']}-{each['name']}" for each in RECORDED])
def test_a_file_is_read_as_its_host_read_it(tmp_path: Path, case: dict[str, Any]) -> None:
    """As recorded, with the version of the host."""
    host = _HOSTS[case["host"]]
    own = read_with_orgkernel(tmp_path / "own", {host.path: case["text"]}, host.tools)
    assert find_disagreements(recorded_reading(case), own) == []


if DEPTH > 1:

    @pytest.fixture(scope="session")
    def gemini_cli() -> Iterator[hosts.GeminiCli]:
        with hosts.start_gemini_cli() as host:
            yield host

    @pytest.fixture(scope="session")
    def opencode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hosts.OpenCode]:
        with hosts.start_opencode(tmp_path_factory.mktemp("home")) as host:
            yield host

    @pytest.fixture(scope="session")
    def claude_code(tmp_path_factory: pytest.TempPathFactory) -> hosts.ClaudeCode:
        return hosts.find_claude_code(tmp_path_factory.mktemp("home"))

    @pytest.fixture(scope="session")
    def codex(tmp_path_factory: pytest.TempPathFactory) -> Iterator[model_hosts.Codex]:
        with start_model_server() as model:
            yield model_hosts.Codex(model, tmp_path_factory.mktemp("home"))

    @pytest.fixture(scope="session")
    def copilot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[model_hosts.Copilot]:
        with start_model_server() as model:
            yield model_hosts.Copilot(model, tmp_path_factory.mktemp("home"))

    def compare(host: hosts.Host, folder: Path, text: str) -> None:
        """Read a file with both readers."""
        place = folder / str(next(_numbers))
        own = read_with_orgkernel(place / "own", {host.path: text}, host.tools)
        assert find_disagreements(host.read(place / "host", text), own) == []

    @pytest.mark.nightly
    @pytest.mark.parametrize("case", RECORDED, ids=[f"{each['host']}-{each['name']}" for each in RECORDED])
    def test_the_recorded_readings_are_those_of_the_hosts(
        tmp_path: Path, case: dict[str, Any], request: pytest.FixtureRequest
    ) -> None:
        """The installed version of each host reads the files as it is recorded."""
        host = request.getfixturevalue(case["host"].replace("-", "_"))
        theirs = {name: each.tools for name, each in host.read(tmp_path / "host", case["text"]).items()}
        assert theirs == {name: each.tools for name, each in recorded_reading(case).items()}

    _search = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])

    @settings(_search, max_examples=80)
    @given(text=agent_files("gemini-cli"))
    def test_gemini_cli_reads_generated_files_in_the_same_way(
        gemini_cli: hosts.GeminiCli, tmp_path: Path, text: str
    ) -> None:
        """Any value at any place of an agent's file."""
        compare(gemini_cli, tmp_path, text)

    @settings(_search, max_examples=10)
    @given(text=agent_files("opencode"))
    def test_opencode_reads_generated_files_in_the_same_way(
        opencode: hosts.OpenCode, tmp_path: Path, text: str
    ) -> None:
        """Any value at any place of an agent's file."""
        compare(opencode, tmp_path, text)

    @settings(_search, max_examples=8)
    @given(text=agent_files("claude-code"))
    def test_claude_code_reads_generated_files_in_the_same_way(
        claude_code: hosts.ClaudeCode, tmp_path: Path, text: str
    ) -> None:
        """Any value at any place of an agent's file."""
        compare(claude_code, tmp_path, text)

    def test_the_catalog_has_every_tool_and_agent_of_claude_code(
        claude_code: hosts.ClaudeCode, tmp_path: Path
    ) -> None:
        """The command line states them when it starts. A new one is looked up before the hook decides about it."""
        tools, agents = claude_code.list_own(tmp_path)
        table = read_host_table()
        assert tools - set(read_built_in_tools("claude-code")) - set(table["stand_ins"]) == set()
        assert agents - set(table["built_in_agents"]) == set()
        assert {"Bash", "Read"} <= tools

    @settings(_search, max_examples=20)
    @given(text=codex_files())
    def test_codex_reads_generated_files_in_the_same_way(
        codex: model_hosts.Codex, tmp_path: Path, text: str
    ) -> None:
        """Any value at any place of an agent's file."""
        compare(codex, tmp_path, text)

    @settings(_search, max_examples=8)
    @given(text=agent_files("copilot"))
    def test_copilot_reads_generated_files_in_the_same_way(
        copilot: model_hosts.Copilot, tmp_path: Path, text: str
    ) -> None:
        """Any value at any place of an agent's file."""
        compare(copilot, tmp_path, text)
