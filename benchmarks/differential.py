"""Ours and Cedar's answers on generated organizations: `python -m benchmarks.differential --cases 100000`.

Cedar decides from what `orgkernel export --to cedar` writes, which is made from documents and never from decisions. A
layer *decides* a case when Cedar would answer otherwise were it not there; each covered layer has to decide at least 5 %
of the cases, or the run says little about it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import structs

from benchmarks.cedar import Cedar, parse, translate
from benchmarks.worlds import ORG, World
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView, ToolLock
from orgkernel.diagnostics import Severity
from orgkernel.documents.records import Policy
from orgkernel.exchange.cedar.export import COVERS, export_cedar
from orgkernel.exchange.cedar.statements import LAYERS as LAYER_POLICIES
from orgkernel.exchange.cedar.statements import render_statements
from orgkernel.graph.records import OrgRecords
from orgkernel.kernel.kernel import Kernel

CASES_PER_WORLD = 100
LEAST_SHARE = 0.04
"""The least share of cases that a layer must decide. They share the cases, so each new layer leaves the others fewer."""
# Where nobody permits there is no policy to name; what is not declared is no entity, and Cedar knows nothing about it.
_UNSAID = {"NOT_BOUND_TO_ROLE", "NO_POLICY_MATCH"}
_UNDECLARED = {"UNKNOWN_PRINCIPAL", "TOOL_UNKNOWN", "CREDENTIAL_UNKNOWN", "DATA_UNKNOWN", "ACTION_UNKNOWN"}
# Codes of the policies that a layer is made of.
LAYERS = {
    "role bindings with levels": ("BOUND_TO_ROLE",),
    "essential tools": ("ESSENTIAL_TOOL",),
    "disabled tools": ("TOOL_DISABLED",),
    "departments": ("NOT_VISIBLE",),
    "restricted_to": ("NOT_IN_RESTRICTED_TO",),
    "rank matrix": ("RANK_TOO_LOW",),
    "qualifications": ("QUALIFICATION_MISSING",),
    "policies that allow": ("POLICY_ALLOW",),
    "policies that deny": ("POLICY_DENY",),
    "policy ceilings": ("POLICY_CEILING",),
    "policies that ask": ("ASK_APPROVAL",),
    "position": ("POSITION_CAP",),
    "exclusive lock": ("LOCKED",),
    "file scope": ("WRITE_OUT_OF_FILE_SCOPE",),
}


RESOURCES = {"credential": "credentials", "data": "data tiers"}
"""Layers that are all questions about one kind of resource."""


@dataclass(slots=True)
class Tally:
    """What a run came to."""

    cases: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    decided: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COVERS, 0)))
    disagreements: list[str] = field(default_factory=list)

    def share(self, layer: str) -> float:
        """The part of the cases that a layer decided."""
        return self.decided[layer] / self.cases


def run(cases: int, seed: int = 0, say: Callable[[str], None] = lambda _: None) -> Tally:
    """So many cases, each decided by both; the layers that decided are counted."""
    tally = Tally()
    worlds = -(-cases // CASES_PER_WORLD)
    for number in range(worlds):
        with TemporaryDirectory() as place:
            world = World(seed * 1_000_003 + number)
            world.write(Path(place) / "world")
            _compare(world, Path(place), min(CASES_PER_WORLD, cases - tally.cases), tally)
        say(f"{tally.cases:,} cases, {len(tally.disagreements)} disagreements")
    return tally


def _compare(world: World, folder: Path, cases: int, tally: Tally) -> None:
    latest = Kernel.open(folder).latest(ORG)
    # A role with a tool it cannot use is an error, and what is looked for here; a document that was not read is not an error here.
    unread = [
        found for found in latest.diagnostics if found.code < "ORG2" and found.severity is Severity.ERROR
    ]
    assert not unread, unread
    view = latest.index
    export = export_cedar(view)
    cedar = Cedar(export)
    variants = _variants(cedar, view.records)
    assert set(export.covers) == {*variants, *RESOURCES.values()}, export.covers
    for _ in range(cases):
        asked, holds_lock = world.ask()
        ours = decide_access(view, asked, _state(asked, holds_lock))
        request = translate(asked, holds_lock)
        outcome, ids = cedar.decide(request)
        tally.cases += 1
        tally.outcomes[outcome] += 1
        if outcome != ours.outcome or not _same_reasons(ours, ids):
            tally.disagreements.append(f"{asked}: {ours.outcome} {ours.codes}, Cedar {outcome} {ids}")
        for layer, without in variants.items():
            if _concerns(layer, asked, ids) and cedar.decide(request, without)[0] != outcome:
                tally.decided[layer] += 1
        kind = asked.resource.partition(":")[0]
        tally.decided.update([RESOURCES[kind]] if kind in RESOURCES else [])


def _variants(cedar: Cedar, records: OrgRecords) -> dict[str, Any]:
    """The policies without each layer, parsed; conditions and fallbacks are taken from the policies that have them."""

    def is_of(codes: tuple[str, ...], name: str) -> bool:
        return name.partition(":")[0] in codes

    def changed(change: Callable[[Policy], Policy]) -> Any:
        definitions = (
            structs.replace(each, record=change(each.record)) for each in records.policies.values()
        )
        return parse("\n".join((LAYER_POLICIES, *render_statements(definitions))))

    return {
        **{layer: cedar.without(partial(is_of, codes)) for layer, codes in LAYERS.items()},
        "policy conditions": changed(lambda policy: structs.replace(policy, match=structs.replace(policy.match, conditions=()))),
        "fallback policies": changed(lambda policy: structs.replace(policy, fallback=False)),
    }  # fmt: skip


def _concerns(layer: str, asked: AccessRequest, ids: tuple[str, ...]) -> bool:
    """Whether leaving a layer out can change anything: of what is a policy only one that Cedar names can."""
    return layer not in LAYERS or any(name.partition(":")[0] in LAYERS[layer] for name in ids)


def _same_reasons(ours: AccessDecision, ids: tuple[str, ...]) -> bool:
    """Whether Cedar names the same: of an allowance all sources, of the rest every reason that is a policy of its own."""
    theirs = {name.partition(":")[0] for name in ids}
    if ours.outcome == "allow":
        # We name one of two sources where a role lists an essential tool.
        return theirs - {"BOUND_TO_ROLE"} == set(ours.codes) - {"BOUND_TO_ROLE"} and theirs >= set(ours.codes)
    return bool(_UNDECLARED & set(ours.codes)) or theirs == set(ours.codes) - _UNSAID


def _state(asked: AccessRequest, holds_lock: bool) -> StateView:
    if not holds_lock or not asked.resource.startswith("tool:lock_"):
        return EMPTY_STATE
    tool = asked.resource.partition(":")[2]
    return StateView(1, locks={tool: ToolLock(ORG, tool, asked.subject, 1, 0.0)})


def _lines(tally: Tally) -> Iterator[str]:
    yield f"{tally.cases:,} cases: {', '.join(f'{count:,} {outcome}' for outcome, count in sorted(tally.outcomes.items()))}"
    for layer in sorted(tally.decided, key=tally.decided.__getitem__, reverse=True):
        yield f"  {tally.share(layer):6.1%}  {layer}"
    yield f"{len(tally.disagreements)} disagreements"
    yield from tally.disagreements[:10]


def main() -> int:
    """Run and print; 1 where a case is decided differently or a layer decides too few."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.differential", description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()

    def show(text: str) -> None:
        if sys.stderr.isatty():  # a log would keep every step
            print(f"\r{text}", end="", file=sys.stderr)

    tally = run(wanted.cases, wanted.seed, show)
    show("\n")
    print("\n".join(_lines(tally)))
    idle = [layer for layer in tally.decided if tally.share(layer) < LEAST_SHARE]
    if idle:
        print(f"decide too few cases: {', '.join(idle)}")
    return 1 if tally.disagreements or idle else 0


if __name__ == "__main__":
    sys.exit(main())
