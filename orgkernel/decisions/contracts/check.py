"""Check a contract against all rules of its kind, by itself and beside the contract it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orgkernel.decisions.contracts import briefs
from orgkernel.decisions.contracts.findings import ContractFinding
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.records.brief import Brief
from orgkernel.records.contract import Contract

COMPANIONS: Final = {"brief": ("brief",)}
"""What a contract of each kind may be checked beside."""


def explain_strange_companion(kind: str, other: str) -> str:
    """Why a contract of one kind cannot be checked beside one of another; empty if it can."""
    if other in COMPANIONS.get(kind, ()):
        return ""
    known = COMPANIONS.get(kind)
    able = f"beside {listing(known)}" if known else "by itself"
    return f"a contract of kind {quote(kind)} is checked {able}, not beside one of kind {quote(other)}"


def check_contract(contract: Contract, against: Contract | None = None) -> tuple[ContractFinding, ...]:
    """Everything that is wrong with a contract. `against` is the brief or other contract it belongs to."""
    return tuple(_findings(contract, against))


def _findings(contract: Contract, against: Contract | None) -> Iterator[ContractFinding]:
    if isinstance(contract, Brief):
        yield from briefs.find_missing_sections(contract)
        yield from briefs.find_long_mission(contract)
        yield from briefs.find_trivial_verify(contract)
        yield from briefs.find_bad_brief_ids(contract)
        yield from briefs.find_acts_of_readers(contract)
        if isinstance(against, Brief):
            yield from briefs.find_other_parent(contract, against)
