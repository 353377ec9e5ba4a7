"""Check a contract against all rules of its kind, alone and together with the contract that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from orgkernel.decisions.work.contracts import (
    blockers,
    briefs,
    decision_log,
    lmc,
    names,
    payload_secrets,
    preflights,
    results,
    subtask_plans,
    times,
)
from orgkernel.decisions.work.contracts import terms as terms_module
from orgkernel.decisions.work.contracts.findings import ContractFinding
from orgkernel.decisions.work.contracts.terms import ContractTerms
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import Contract

ContractRule = Callable[[Any], Iterable[ContractFinding]]
PairRule = Callable[[Any, Any], Iterable[ContractFinding]]

_OF_REPORTS: Final[tuple[ContractRule, ...]] = (
    results.find_unverified,
    results.find_regressions,
    results.find_missing_gates,
    results.find_failed_shipping,
    results.find_unfinished,
    results.find_pending_without_actions,
    results.find_pending_unverified,
    results.find_failure_without_evidence,
    results.find_self_approval,
    results.find_waiting_actions,
    briefs.find_bad_contract_ids,
)
RULES: Final[Mapping[str, tuple[ContractRule, ...]]] = {
    "brief": (
        briefs.find_missing_sections,
        briefs.find_long_mission,
        briefs.find_trivial_verify,
        briefs.find_bad_contract_ids,
        briefs.find_acts_of_readers,
        briefs.find_unreadable_files,
        briefs.find_unknown_operations,
    ),
    "result": _OF_REPORTS,
    "blocker": (
        blockers.find_nothing_blocked,
        blockers.find_no_fallback,
        blockers.find_not_resumable,
        blockers.find_preference_question,
        briefs.find_bad_contract_ids,
    ),
    "correction": (*_OF_REPORTS, results.find_missing_original),
    "decision_entry": (decision_log.find_incomplete_entry, briefs.find_bad_contract_ids),
    "lmc_record": (
        lmc.find_incomplete_attempts,
        lmc.find_own_checker,
        lmc.find_missing_escalation,
        briefs.find_bad_contract_ids,
    ),
    "mission_close": (*_OF_REPORTS, results.find_missing_coherence),
    "subtask_plan": (
        subtask_plans.find_duplicate_subtasks,
        subtask_plans.find_bad_dependencies,
        subtask_plans.find_dependency_cycles,
        subtask_plans.find_subtasks_without_files,
        subtask_plans.find_bad_files,
        subtask_plans.find_work_after_terminal,
        subtask_plans.find_needs_without_domain,
    ),
    "preflight": (
        preflights.find_missing_steps,
        preflights.find_unknown_operation,
        briefs.find_bad_contract_ids,
    ),
}
"""The rules of each kind."""
PAIR_RULES: Final[Mapping[tuple[str, str], PairRule]] = {
    ("brief", "brief"): briefs.find_other_parent,
    ("result", "brief"): results.find_brief_mismatch,
    ("result", "blocker"): results.find_blocked_end,
    ("correction", "brief"): results.find_brief_mismatch,
    ("correction", "result"): results.find_other_original,
    ("correction", "mission_close"): results.find_other_original,
    ("correction", "blocker"): results.find_blocked_end,
    ("mission_close", "brief"): results.find_brief_mismatch,
    ("mission_close", "blocker"): results.find_blocked_end,
    ("blocker", "brief"): blockers.find_authorized_block,
    ("blocker", "result"): blockers.find_blocker_of_done,
    ("lmc_record", "brief"): lmc.find_other_brief,
    ("preflight", "brief"): preflights.find_unlisted_operation,
    ("decision_entry", "decision_entry"): decision_log.find_uncited,
    ("decision_entry", "blocker"): decision_log.find_own_answer,
}
"""The rule for each pair of kinds."""


TermRule = Callable[[Any, ContractTerms], Iterable[ContractFinding]]
TERM_RULES: Final[Mapping[str, TermRule]] = {
    "blocker": terms_module.find_declared_phrase,
    "result": terms_module.find_declared_report,
    "correction": terms_module.find_declared_report,
    "mission_close": terms_module.find_declared_report,
    "lmc_record": terms_module.find_weak_mode,
}
"""The rule of each kind that depends on the terms of an organization."""


_OF_ALL: Final[tuple[ContractRule, ...]] = (
    payload_secrets.find_payload_secrets,
    times.find_bad_times,
    names.find_invisible_characters,
    names.find_self_reference,
)
"""The rules for contracts of every kind."""


def check_contract(
    contract: Contract,
    against: Contract | None = None,
    terms: ContractTerms | None = None,
    now: float | None = None,
) -> tuple[ContractFinding, ...]:
    """All findings about a contract. `against` is the brief or other contract it belongs to, `terms` are the
    requirements of its organization. `now`, in seconds since 1970, is compared with its times.

    Raises `ValueError` if no rule compares the two kinds; `explain_strange_companion` reports that beforehand.
    """
    kind = get_contract_kind(contract)
    findings = [each for rule in (*RULES[kind], *_OF_ALL) for each in rule(contract)]
    if terms is not None and kind in TERM_RULES:
        findings += TERM_RULES[kind](contract, terms)
    if now is not None:
        findings += times.find_future_times(contract, now)
    if against is not None:
        other = get_contract_kind(against)
        if strange := explain_strange_companion(kind, other):
            raise ValueError(strange)
        findings += [*PAIR_RULES[kind, other](contract, against), *times.find_wrong_order(contract, against)]
    return tuple(findings)


def get_contract_kind(contract: Contract) -> str:
    """The kind of a contract, such as `brief`."""
    return str(getattr(contract, "kind", "")).rpartition(":")[2]


def explain_strange_companion(kind: str, other: str) -> str:
    """The reason why two kinds of contracts cannot be compared; empty if they can."""
    if (kind, other) in PAIR_RULES:
        return ""
    known = [each for mine, each in PAIR_RULES if mine == kind]
    return f"a contract of kind {quote(kind)} is checked against {listing(known)}, not against {quote(other)}"
