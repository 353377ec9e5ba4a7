"""The conformance suite of the protocol, in both eras, against servers that run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.keys import bearer
from tests.mcp.conformance import REVISIONS, scenarios_of
from tests.mcp.relay import relaying
from tests.mcp.serving import everything, gateway, registry
from tests.support.sampling import sample_every

NEWEST_FIRST = sample_every(sorted(REVISIONS, reverse=True), len(REVISIONS))
OF_NO_TOOL = {"dns-rebinding-protection", "resources-list", "tools-list"}
"""Scenarios that ask nothing of the suite's own tools and prompts, so that the registry has to pass them."""


@pytest.mark.nightly
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_test_server_passes_everything(revision: str, tmp_path: Path) -> None:
    """What fails behind a gateway is the gateway's fault, because the server behind it passes."""
    with everything(tmp_path) as url:
        found = scenarios_of(url, revision, "everything", tmp_path)
    assert len(found) > 30
    assert found["tools-call-with-progress"][1] == 0


@pytest.mark.parametrize("revision", NEWEST_FIRST)
def test_the_registry_passes_what_applies_to_it(revision: str, tmp_path: Path) -> None:
    """Every check but those that call the suite's own tools, and those of what the server does not declare."""
    with registry(tmp_path) as url:
        found = scenarios_of(url, revision, "registry", tmp_path)
    assert all(found[name][0] and not found[name][1] for name in OF_NO_TOOL)


@pytest.mark.parametrize("revision", NEWEST_FIRST)
def test_the_gateway_passes_what_the_server_behind_it_passes(revision: str, tmp_path: Path) -> None:
    """Tools, prompts and resources of the server behind, with every kind of content and error."""
    with gateway(tmp_path) as (url, key), relaying(url, bearer(key), "everything__") as relayed:
        found = scenarios_of(relayed, revision, "gateway", tmp_path)
    assert found["tools-call-mixed-content"][1] == 0
