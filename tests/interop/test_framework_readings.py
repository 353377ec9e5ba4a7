"""Files of frameworks are read as the frameworks load them: agents, tools, delegation and model, or MCP servers.

`make test` compares with recorded readings. `make nightly` asks the loaders themselves, also about generated files.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.interop.readings.framework_files import FILES
from tests.interop.readings.frameworks import (
    FRAMEWORKS,
    Agent,
    Loaded,
    Loader,
    find_disagreements,
    read_with_orgkernel,
    start_loader,
)
from tests.support.depth import DEPTH
from tests.support.yaml_text import read_yaml_file

RECORDED: list[dict[str, Any]] = read_yaml_file(
    Path(__file__).with_name("readings") / "recorded_frameworks.yaml"
)["cases"]
IDS = [f"{each['framework']}-{each['name']}" for each in RECORDED]
_numbers = itertools.count()


def recorded_agents(case: Mapping[str, Any]) -> dict[str, Agent]:
    """What the framework loaded from the file of a case."""
    return {
        name: Agent(
            frozenset(each.get("tools", ())), frozenset(each.get("delegates", ())), each.get("model", "")
        )
        for name, each in case["agents"].items()
    }


@pytest.mark.parametrize("case", RECORDED, ids=IDS)
def test_a_file_is_read_as_its_framework_loaded_it(tmp_path: Path, case: dict[str, Any]) -> None:
    """As recorded, with the version of the framework."""
    framework = FRAMEWORKS[case["framework"]]
    own = read_with_orgkernel(tmp_path / "own", framework, case["text"])
    assert find_disagreements(framework, Loaded(recorded_agents(case)), own) == []


if DEPTH > 1:

    @pytest.fixture(scope="session")
    def loaders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Loader]]:
        with ExitStack() as stack:
            home = tmp_path_factory.mktemp("home")
            yield {name: stack.enter_context(start_loader(name, home)) for name in FRAMEWORKS}

    @pytest.mark.nightly
    @pytest.mark.parametrize("case", RECORDED, ids=IDS)
    def test_the_recorded_readings_are_those_of_the_frameworks(
        tmp_path: Path, case: dict[str, Any], loaders: dict[str, Loader]
    ) -> None:
        """The installed version of each framework loads the files as it is recorded."""
        theirs = loaders[case["framework"]].read(tmp_path / "host", case["text"])
        assert theirs.agents == recorded_agents(case)

    @pytest.mark.parametrize("name", FRAMEWORKS)
    @settings(
        max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    )
    @given(data=st.data())
    def test_a_framework_loads_generated_files_in_the_same_way(
        name: str, tmp_path: Path, loaders: dict[str, Loader], data: st.DataObject
    ) -> None:
        """Any value at any place of a file."""
        text = data.draw(FILES[name])
        place = tmp_path / str(next(_numbers))
        theirs = loaders[name].read(place / "host", text)
        own = read_with_orgkernel(place / "own", FRAMEWORKS[name], text)
        assert find_disagreements(FRAMEWORKS[name], theirs, own) == []
