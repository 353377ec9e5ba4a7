"""Claims and open blockers in manifests: as they are stored, for as long as they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orgkernel.kernel.kernel import Kernel
from orgkernel.state.store import Store
from tests.state.opening import Clock, opened, sqlite_at
from tests.support.contracts import changed
from tests.support.trees import TEMPLATES


@pytest.fixture
def clock() -> Clock:
    """Set by hand."""
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    """An empty store."""
    with opened(sqlite_at(tmp_path), clock) as found:
        yield found


@pytest.fixture
def kernel(store: Store, clock: Clock) -> Kernel:
    """The household, in which the clerk is the record keeper."""
    return Kernel.open(TEMPLATES / "household").with_store(store, lambda: (clock(), 0))


def shown(kernel: Kernel) -> dict[str, Any]:
    """What the kept manifest of the role says of work."""
    manifest = json.loads(kernel.manifest_bytes("household", "record_keeper"))
    return {
        "claims": [(each["id"], each["holder"], each["paths"]) for each in manifest["file_claims"]],
        "blockers": [(each["agent"], each["session"]) for each in manifest["open_blockers"]],
    }


def test_a_manifest_follows_claims_to_their_ends(kernel: Kernel, store: Store, clock: Clock) -> None:
    """The claims of the agents in the role, until they are released or expire, and no others."""
    assert shown(kernel)["claims"] == []
    store.claims.claim("household", "agent:clerk", ["plants.yaml"], seconds=60)
    store.claims.claim("household", "agent:clerk", ["docs/"], seconds=600)
    store.claims.claim("household", "agent:butler", ["fence.yaml"], seconds=600)
    assert shown(kernel)["claims"] == [
        ("1", "agent:clerk", ["plants.yaml"]),
        ("2", "agent:clerk", ["docs"]),
    ]
    clock.now += 60
    assert shown(kernel)["claims"] == [("2", "agent:clerk", ["docs"])]
    store.claims.release("household", 2, "agent:clerk")
    assert shown(kernel)["claims"] == []
    assert [each.paths for each in kernel.agent_manifest("household", "butler").file_claims] == [
        ("fence.yaml",)
    ]


def test_a_manifest_shows_questions_until_they_are_answered(kernel: Kernel, store: Store) -> None:
    """Of the role by its agents, and of the agent."""

    def put(kind: str, **changes: object) -> str:
        body = changed(kind, {"id": None, **changes})
        return store.contracts.record("household", kind, body, actor="person:owner").record_id

    assert shown(kernel)["blockers"] == []
    asked = put("blocker", agent="clerk")
    put("blocker", agent="butler", session="fence")
    assert shown(kernel)["blockers"] == [("clerk", "shop-worker-1")]
    (item,) = kernel.agent_manifest("household", "clerk").open_blockers
    assert (item.id, item.human_required_for) == (asked, "credential")
    put("decision_entry", answers=asked)
    assert shown(kernel)["blockers"] == []
    assert kernel.agent_manifest("household", "clerk").open_blockers == ()
