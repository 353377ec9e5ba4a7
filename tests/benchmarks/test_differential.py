"""Ours and Cedar's answers from an export made of documents alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import differential
from benchmarks.cedar import Cedar, split, translate
from benchmarks.differential import run
from benchmarks.worlds import ORG, World
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.exchange.cedar.export import COVERS, export_cedar
from orgkernel.kernel.kernel import Kernel


def test_cedar_decides_as_we_do() -> None:
    """Outcome, every reason that is a policy, and every source of an allowance, of every case; and each layer decides some."""
    tally = run(2_000, seed=4)
    assert tally.disagreements == []
    assert tally.cases == 2_000
    assert min(tally.outcomes[outcome] for outcome in ("allow", "ask", "deny")) > 50
    # A layer that hardly ever decides is hardly compared.
    assert [layer for layer in COVERS if tally.share(layer) < differential.LEAST_SHARE] == []


def test_a_wrong_decision_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decider that forgets restrictions of tools disagrees with Cedar."""
    from orgkernel.decisions.access import resource

    true_tool = resource._build_tool

    def forgetful(view, tool_id):
        tool = true_tool(view, tool_id)
        tool.restricted_to = None
        return tool

    monkeypatch.setattr(resource, "_build_tool", forgetful)
    found = run(200, seed=4).disagreements
    assert found
    assert all("NOT_IN_RESTRICTED_TO" in each for each in found)


def test_a_world_is_made_from_its_number(tmp_path: Path) -> None:
    """The same number gives the same documents and questions, so that a disagreement can be looked at again."""
    for name in ("a", "b"):
        World(7).write(tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.json"))
    assert len(files) == 17
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in files)


def test_policies_of_an_export_can_be_taken_out(tmp_path: Path) -> None:
    """What is left out is left out, and nothing else: this is how a layer's say is measured."""
    World(3).write(tmp_path / "world")
    export = export_cedar(Kernel.open(tmp_path).latest(ORG).index)
    cedar = Cedar(export)
    names = [name for name, _ in split(cedar.text)]
    assert len(names) == len(set(names)) == len(cedar.policies)
    assert len(cedar.without(lambda name: name == "TOOL_DISABLED")) == len(names) - 1


def test_requests_are_told_in_local_time() -> None:
    """Minute of the day and weekend where the subject is; 1970-01-01 was a Thursday."""
    request = AccessRequest("role:r0", "run", "tool:t", AccessContext(now=2 * 86_400.0, utc_offset=-60))
    said = translate(request)
    assert said["context"] == {"minute": 1439, "weekend": False}
    assert said["resource"] == {"type": "OrgKernel::ToolAction", "id": "t/run"}
    later = AccessRequest("role:r0", "use", "credential:c", AccessContext(now=2 * 86_400.0, channel="slack"))
    assert translate(later)["context"] == {"channel": "slack", "minute": 0, "weekend": True}
