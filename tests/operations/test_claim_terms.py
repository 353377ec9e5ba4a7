"""The limits of claims that a governance document declares, through the operations with a real store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orgkernel.decisions.ownership.claim_terms import is_scope_inside
from orgkernel.errors import Refused
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.claims import claim_files, extend_claim
from orgkernel.operations.context import Actor, Context
from tests.operations.surfaces import place_in
from tests.operations.test_handoffs import CREW, brief, hand_down
from tests.state.opening import Clock, opened
from tests.support.trees import copy_template

CLAIMS = """
claims:
  without_handoff: [planner]
  max_seconds: 600
  max_claims: 2
  min_fixed_names: 2
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """Omega, with limits of claims."""
    folder = copy_template(tmp_path_factory.mktemp("omega") / "omega", "omega")
    (folder / "crew.yaml").write_text(CREW, encoding="utf-8")
    with (folder / "governance.yaml").open("a", encoding="utf-8") as document:
        document.write(CLAIMS)
    return Kernel.open(folder)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def planner(kernel: Kernel, clock: Clock, quick_folder: Path) -> Iterator[Context]:
    """A planner, whose role may claim without a hand-off."""
    with opened(place_in(quick_folder), clock) as store:
        there = kernel.with_store(store, lambda: (clock(), 0))
        yield Context(there, store, Actor("caller:k", "agent:ada"))


def refuse(context: Context, *paths: str, seconds: float | None = None) -> str:
    with pytest.raises(Refused) as refused:
        claim_files(context, "omega", paths, seconds=seconds)
    return f"{refused.value.code} {refused.value.message}"


def test_a_role_with_the_right_claims_without_a_hand_off(planner: Context) -> None:
    """Another role does not."""
    assert claim_files(planner, "omega", ["src/shop/**"]).expires_at - planner.store.context.clock() == 600
    worker = Context(planner.kernel, planner.store, Actor("caller:w", "agent:wanda"))
    assert refuse(worker, "src/other/a.py").startswith(
        "CLAIM_WITHOUT_HANDOFF no brief that was handed down to"
    )


def test_breadth_number_and_lease_are_bounded(planner: Context) -> None:
    """Each by the governance document."""
    assert refuse(planner, "src/**") == (
        "CLAIM_LIMIT `src/**` begins with 1 names without wildcards, and at least 2 are required"
    )
    assert refuse(planner, "src/a/*.py", seconds=601).startswith(
        "CLAIM_LIMIT the claim would last 601 seconds"
    )
    for name in ("a", "b"):
        claim_files(planner, "omega", [f"src/{name}/*.py"])
    assert refuse(planner, "src/c/*.py") == "CLAIM_LIMIT `agent:ada` has 2 claims, and may not have more"


def test_a_claim_is_not_extended_for_ever(planner: Context, clock: Clock) -> None:
    """Its extensions count from its begin."""
    claim = claim_files(planner, "omega", ["src/a/*.py"], seconds=300)
    clock.now += 200
    assert extend_claim(planner, "omega", claim.token, seconds=300).expires_at == claim.claimed_at + 500
    clock.now += 200
    with pytest.raises(Refused, match="the claim would last 700 seconds, more than the 600"):
        extend_claim(planner, "omega", claim.token, seconds=300)


def test_a_hand_off_is_bounded_too(planner: Context) -> None:
    """A brief that owns a whole folder of the project, and a lease that is too long."""
    operator = Context(planner.kernel, planner.store, Actor("system:cli"))
    hand_down(operator, "human", "intake", session="shop", depth=0)
    words = ("intake", "planner")
    with pytest.raises(
        Refused, match="CLAIM_LIMIT: the brief owns too much: `src/\\*\\*` begins with 1 names"
    ):
        hand_down(operator, *words, brief(1, "src/**"), from_session="shop", session="plan")
    with pytest.raises(Refused, match="the claim would last 700 seconds"):
        hand_down(operator, *words, brief(1, "src/a/**"), from_session="shop", session="plan", seconds=700)
    made = hand_down(operator, *words, brief(1, "src/a/**"), from_session="shop", session="plan")
    assert (made.token, made.expires_at - made.at) == (1, 600)


@pytest.mark.parametrize(
    ("path", "owned", "inside"),
    [
        ("src/a.py", "src", True),
        ("src/**/*.py", "src/", True),
        ("src", "src", True),
        ("src2/a.py", "src", False),
        ("src/../a.py", "src", False),
        ("SRC/a.py", "src", False),
        ("src/a.py", "src/*", True),
        ("src/a/b.py", "src/*", False),
    ],
)
def test_a_folder_holds_what_is_below_it(path: str, owned: str, inside: bool) -> None:
    """Only if that is certain: a file system could treat two letter cases as different files."""
    assert is_scope_inside(path, owned) is inside
