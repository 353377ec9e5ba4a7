"""A server answers for an organization whose roles lie in files of others, and follows both of their files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.running import Server, running, until
from tests.support.claude_trees import AGENTS
from tests.support.overlays import laid_over
from tests.support.trees import change_line


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over the organization. Its source lies beside it, in the folder that the server is started in."""
    folder = laid_over(tmp_path_factory.mktemp("overlay"))
    with running(folder, folder / "org") as found:
        yield found


def role(server: Server) -> Any:
    """The manifest of the role that is made of two files."""
    return server.get("/v1/orgs/shop/roles/code-reviewer").json()


def test_each_answer_names_the_file_that_says_it(server: Server) -> None:
    """Tools in the file of the agent, domains in the overlay."""
    found = role(server)
    files = {part: {each["why"][0]["file"] for each in found[part]} for part in ("tools", "domains")}
    assert f"team/{AGENTS}/reviewer.md" in files["tools"]
    assert files["domains"] == {"org/roles/reviewer.yaml"}


def test_changes_of_either_file_are_followed(server: Server) -> None:
    """A tool less in the source, an interval in the overlay, and a source that is gone for a moment."""

    def tools(found: Any) -> set[str]:
        return {each["id"] for each in found["tools"]}

    folder: Path = server.folder
    assert {"Read", "Grep"} <= tools(role(server))
    change_line(folder / "team" / AGENTS / "reviewer.md", "tools: Read, Grep", "tools: Read")
    until(lambda: tools(role(server)), lambda found: "Grep" not in found)
    overlay = folder / "org/roles/reviewer.yaml"
    change_line(overlay, "doctrine: {salute_interval_turns: 3}", "doctrine: {salute_interval_turns: 4}")
    until(lambda: [each["value"] for each in role(server)["doctrine"]], lambda found: 4 in found)
    (folder / "team").rename(folder / "away")
    server.until_logged("kept: organization `shop` answers from its last good version")
    assert "Read" in tools(role(server))
    (folder / "away").rename(folder / "team")
    change_line(folder / "team" / AGENTS / "reviewer.md", "tools: Read", "tools: Read, Glob")
    until(lambda: tools(role(server)), lambda found: "Glob" in found)
