"""Questions to a loaded organization, in microseconds. What is answered is compared before it is timed."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.generate import domains_and_tools, expected_taker
from benchmarks.timing import microseconds
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.snapshots.snapshot import OrgSnapshot

ORG = "measured"
_CHECKED = 24


def open_kernel(folder: Path) -> Kernel:
    """A kernel over a generated organization."""
    return Kernel.open(folder)


def load(folder: Path) -> OrgSnapshot:
    """The organization as a kernel holds it."""
    return open_kernel(folder).organization(ORG).snapshot


def dispatch(folder: Path) -> dict[str, Any]:
    """Different questions in turn: every domain, alone and with one or two needed tools; and the first of each."""
    index = load(folder).index
    domains, tools = domains_and_tools()
    plain: list[tuple[str, tuple[str, ...]]] = [(domain, ()) for domain in domains]
    needing = [
        (
            domains[turn % len(domains)],
            tuple(tools[(turn * step) % len(tools)] for step in (1, 7)[: 1 + turn % 2]),
        )
        for turn in range(720)
    ]
    gc.disable()
    first = [_seconds(index, *question) for question in (*plain, *needing)]
    for domain, needs in (*plain, *needing)[:: max(1, len(needing) // _CHECKED)]:
        wanted = expected_taker(domain, needs, len(index.roles))
        said = decide_dispatch(index, domain, needs=needs)
        assert said.role_id == wanted, f"{domain} needing {needs}: {said.role_id}, not {wanted}"
        assert said.reasons, "an answer without reasons"
    return {
        "plain": microseconds(lambda turn: decide_dispatch(index, plain[turn % len(plain)][0])),
        "needs": microseconds(lambda turn: _ask(index, needing[turn % len(needing)])),
        "first_plain": median(first[: len(plain)]) * 1e6,
        "first_needs": median(first[len(plain) :]) * 1e6,
        "first_longest": max(first) * 1e6,
    }


def _ask(view: OrgView, question: tuple[str, tuple[str, ...]]) -> object:
    return decide_dispatch(view, question[0], needs=question[1])


def _seconds(view: OrgView, domain: str, needs: tuple[str, ...]) -> float:
    start = time.perf_counter()
    decide_dispatch(view, domain, needs=needs)
    return time.perf_counter() - start


def manifest(folder: Path) -> dict[str, Any]:
    """One role's manifest as bytes: of roles not asked for before, and again."""
    from orgkernel.manifest.role import build_role_manifest
    from orgkernel.manifest.v1 import encode

    kernel = open_kernel(folder)
    index = kernel.organization(ORG).snapshot.index
    roles = index.roles
    for number in (0, 1, len(roles) // 2, len(roles) - 1):
        wanted = encode(kernel.manifest(ORG, roles[number]))
        assert kernel.manifest_bytes(ORG, roles[number]) == wanted, "kept bytes differ"
        assert wanted.count(b'"preference":"primary"') == 10, "not the tools that were put in"

    def new(turn: int) -> bytes:
        return encode(build_role_manifest(index, roles[turn * 7919 % len(roles)]))

    asked = roles[:500]
    for role in asked:
        kernel.manifest_bytes(ORG, role)
    return {
        "new": microseconds(new),
        "again": microseconds(lambda turn: kernel.manifest_bytes(ORG, asked[turn % len(asked)])),
        "bytes": len(kernel.manifest_bytes(ORG, roles[-1])),
    }
