"""The rules for results, corrections and mission closes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from orgkernel.decisions.work.contracts.findings import (
    ContractFinding,
    Route,
    is_blank,
    is_same_id,
    is_same_name,
)
from orgkernel.decisions.work.contracts.preferences import find_phrase, say_waiting
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import Blocker, Brief, Correction, MissionClose, SessionReport

_EXIT_CODE: Final = ("evidence", "verify_exit_code")


def find_unverified(report: SessionReport) -> Iterator[ContractFinding]:
    """DONE_CLEAN_VERIFY_FAILED: the verify command did not succeed."""
    code = report.evidence.verify_exit_code
    if report.status == "done_clean" and code != 0:
        clause = "is not recorded" if code is None else f"is {code}"
        message = f"the result is `done_clean`, but the exit code of the verify command {clause}"
        yield ContractFinding(row.DONE_CLEAN_VERIFY_FAILED, _EXIT_CODE, message)


def find_regressions(report: SessionReport) -> Iterator[ContractFinding]:
    """DONE_CLEAN_REGRESSIONS: the result lists regressions."""
    if report.status == "done_clean" and report.regressions:
        message = f"the result is `done_clean`, but lists the regressions {listing(report.regressions)}"
        yield ContractFinding(row.DONE_CLEAN_REGRESSIONS, ("regressions",), message)


def _say_not_passed(gates: Collection[str]) -> str:
    return f"the result is `done_clean`, but {listing(gates)} did not pass"


def find_missing_gates(report: SessionReport) -> Iterator[ContractFinding]:
    """DONE_CLEAN_GATE_MISSING: a required audit did not pass."""
    if report.status != "done_clean":
        return
    missing = [gate for gate in report.audit.gates_required if gate not in report.audit.gates_passed]
    if missing:
        message = _say_not_passed(missing)
        yield ContractFinding(row.DONE_CLEAN_GATE_MISSING, ("audit", "gates_passed"), message)
    verdict = report.audit.verdict
    # Gates can pass one by one while the verdict over all of them does not.
    if verdict not in (None, "satisfied"):
        message = f"the result is `done_clean`, but the verdict of the audits is {quote(verdict)}"
        yield ContractFinding(row.DONE_CLEAN_GATE_MISSING, ("audit", "verdict"), message)


def find_failed_shipping(report: SessionReport) -> Iterator[ContractFinding]:
    """DONE_CLEAN_SHIP_FAILED: shipping was requested and did not succeed."""
    if report.status != "done_clean" or report.ship is None:
        return
    if report.ship.result in ("failed", "frozen"):
        clause = "failed" if report.ship.result == "failed" else "was frozen"
        message = f"the result is `done_clean`, but shipping {clause}"
        yield ContractFinding(row.DONE_CLEAN_SHIP_FAILED, ("ship", "result"), message)
    if report.ship.deploy_status in ("ERROR", "TIMEOUT"):
        message = (
            f"the result is `done_clean`, but the deployment ended with {quote(report.ship.deploy_status)}"
        )
        yield ContractFinding(row.DONE_CLEAN_SHIP_FAILED, ("ship", "deploy_status"), message)


def find_unfinished(report: SessionReport) -> Iterator[ContractFinding]:
    """DONE_CLEAN_UNFINISHED: the result lists actions that remain, or shipping was requested and did not take place."""
    if report.status != "done_clean":
        return
    actions = [each for each in report.pending_actions if each.strip()]
    if actions:
        message = f"the result is `done_clean`, but lists the pending actions {listing(actions)}"
        yield ContractFinding(row.DONE_CLEAN_UNFINISHED, ("pending_actions",), message, "report `pending`")
    if report.ship is not None and report.ship.requested and report.ship.result in (None, "skipped"):
        clause = "was skipped" if report.ship.result else "has no result"
        message = f"the result is `done_clean`, but shipping was requested and {clause}"
        yield ContractFinding(row.DONE_CLEAN_UNFINISHED, ("ship", "result"), message, "report `pending`")


def find_pending_without_actions(report: SessionReport) -> Iterator[ContractFinding]:
    """PENDING_WITHOUT_ACTIONS: a pending result lists no actions."""
    if report.status == "pending" and not any(each.strip() for each in report.pending_actions):
        yield ContractFinding(
            row.PENDING_WITHOUT_ACTIONS, ("pending_actions",), "the result is `pending`, but lists no actions"
        )


def find_pending_unverified(report: SessionReport) -> Iterator[ContractFinding]:
    """PENDING_VERIFY_FAILED, a warning: the verify command of a pending result failed."""
    code = report.evidence.verify_exit_code
    if report.status == "pending" and code not in (None, 0):
        message = f"the result is `pending`, and the exit code of the verify command is {code}"
        yield ContractFinding(row.PENDING_VERIFY_FAILED, _EXIT_CODE, message)


def find_failure_without_evidence(report: SessionReport) -> Iterator[ContractFinding]:
    """FAILED_WITHOUT_EVIDENCE: a failed result states no evidence or reason."""
    if (
        report.status == "failed"
        and is_blank(report.evidence.verify_stderr)
        and is_blank(report.refusal_reason)
    ):
        message = "the result is `failed`, but has neither `evidence.verify_stderr` nor `refusal_reason`"
        yield ContractFinding(row.FAILED_WITHOUT_EVIDENCE, ("evidence", "verify_stderr"), message)


def find_self_approval(report: SessionReport) -> Iterator[ContractFinding]:
    """SELF_APPROVAL: an agent approved its own work."""
    if report.approved_by is not None and is_same_name(report.approved_by, report.agent):
        message = f"{quote(report.agent)} did the work and approved it"
        yield ContractFinding(row.SELF_APPROVAL, ("approved_by",), message)
    for number, worker in enumerate(report.workers or () if isinstance(report, MissionClose) else ()):
        if is_same_name(worker.agent, report.agent):
            message = f"{quote(report.agent)} closes a mission in which it worked itself"
            yield ContractFinding(row.SELF_APPROVAL, ("workers", number, "agent"), message)
        elif report.approved_by is not None and is_same_name(worker.agent, report.approved_by):
            message = f"{quote(report.approved_by)} approved a mission in which it worked"
            yield ContractFinding(row.SELF_APPROVAL, ("approved_by",), message)


def find_waiting_actions(report: SessionReport) -> Iterator[ContractFinding]:
    """ILLEGAL_TERMINAL_STATE: the session waits for an answer, so it has not ended."""
    # An action such as "tell me which one you prefer" is a question in disguise: the session waits and did not end.
    for number, action in enumerate(report.pending_actions if report.status == "pending" else ()):
        if phrase := find_phrase(action):
            message, help = say_waiting(action, phrase)
            yield ContractFinding(row.ILLEGAL_TERMINAL_STATE, ("pending_actions", number), message, help)


def find_missing_original(correction: Correction) -> Iterator[ContractFinding]:
    """CORRECTION_WITHOUT_ORIGINAL: the correction names no result."""
    if is_blank(correction.original):
        message = "the correction does not name the result that it corrects"
        yield ContractFinding(row.CORRECTION_WITHOUT_ORIGINAL, ("original",), message)


def find_other_original(correction: Correction, original: SessionReport) -> Iterator[ContractFinding]:
    """CORRECTION_WITHOUT_ORIGINAL or RESULT_BRIEF_MISMATCH, with the result: the correction does not match it."""
    names = [name for name in (original.id, original.session) if name is not None]
    if not is_blank(correction.original) and correction.original not in names:
        message = f"the correction names {quote(correction.original)}, which is not this result"
        yield ContractFinding(
            row.CORRECTION_WITHOUT_ORIGINAL, ("original",), message, "", ("id" if original.id else "session",), "the result"
        )  # fmt: skip
    for name in ("mission", "brief", "session"):
        mine, other = getattr(correction, name), getattr(original, name)
        # A name that one of the two leaves out contradicts nothing.
        if mine is not None and other is not None and mine.strip() != other.strip():
            message = f"the {name} of the correction is {quote(mine)}, but the result has {quote(other)}"
            yield ContractFinding(row.RESULT_BRIEF_MISMATCH, (name,), message, "", (name,), "the result")


def find_missing_coherence(close: MissionClose) -> Iterator[ContractFinding]:
    """CLOSE_COHERENCE_MISSING: the close is incomplete or contradicts its list of workers."""
    parts: dict[str, object] = {
        "consensus_score": close.consensus_score,
        "regressions": close.regressions,
        "verdict": close.verdict,
        "workers": close.workers or None,
    }
    for name, value in parts.items():
        if value is None:
            clause = "lists no workers" if name == "workers" else f"has no {quote(name)}"
            yield ContractFinding(row.CLOSE_COHERENCE_MISSING, (name,), f"the close of the mission {clause}")
    if close.status != "done_clean":
        return
    for number, worker in enumerate(close.workers or ()):
        if worker.status != "done_clean":
            message = f"the mission is closed as `done_clean`, but worker {quote(worker.agent)} is {quote(worker.status)}"
            yield ContractFinding(row.CLOSE_COHERENCE_MISSING, ("workers", number, "status"), message)
    if close.verdict not in (None, "satisfied"):
        message = f"the mission is closed as `done_clean`, but its verdict is {quote(close.verdict)}"
        yield ContractFinding(row.CLOSE_COHERENCE_MISSING, ("verdict",), message)


def find_brief_mismatch(report: SessionReport, brief: Brief) -> Iterator[ContractFinding]:
    """RESULT_BRIEF_MISMATCH, or DONE_CLEAN_GATE_MISSING for audits that only the brief names: the result does not match
    the brief.
    """

    def report_difference(
        route: Route, mine: object, other_route: Route, other: object, what: str
    ) -> ContractFinding:
        clause = f"is {quote(mine)}" if mine is not None else "is missing"
        message = f"the {what} of the result {clause}, but the brief says {quote(other)}"
        return ContractFinding(row.RESULT_BRIEF_MISMATCH, route, message, "", other_route, "the brief")

    if report.brief is not None and brief.id is not None and not is_same_id(report.brief, brief.id):
        yield report_difference(("brief",), report.brief, ("id",), brief.id, "brief")
    if brief.mission is not None and (report.mission or "").strip() != brief.mission.strip():
        yield report_difference(("mission",), report.mission, ("mission",), brief.mission, "mission")
    ran, command = report.evidence.verify_command, brief.verify_command
    # A worker that failed before it could verify has no command to report. Requiring one would invite an invented one.
    ran_nothing = ran is None and report.status == "failed"
    if command is not None and not ran_nothing and (ran or "").strip() != command.strip():
        yield report_difference(
            ("evidence", "verify_command"), ran, ("verify_command",), command, "verify command"
        )
    required, passed = report.audit.gates_required, report.audit.gates_passed
    # A worker that refused the work has run no audits, so it need not list them.
    refused = report.status == "failed" and not required
    if set(required) != set(brief.audit_gates) and not refused:
        mine, other = " ".join(sorted(required)) or "none", " ".join(sorted(brief.audit_gates)) or "none"
        message = (
            f"the required audits of the result are {quote(mine)}, but the brief requires {quote(other)}"
        )
        route: Route = ("audit", "gates_required")
        yield ContractFinding(row.RESULT_BRIEF_MISMATCH, route, message, "", ("audit_gates",), "the brief")
    missing = [gate for gate in brief.audit_gates if gate not in passed and gate not in required]
    if missing and report.status == "done_clean":
        message = _say_not_passed(missing)
        yield ContractFinding(
            row.DONE_CLEAN_GATE_MISSING, ("audit", "gates_passed"), message, "", ("audit_gates",), "the brief"
        )
    yield from _find_other_shipping(report, brief)


def _find_other_shipping(report: SessionReport, brief: Brief) -> Iterator[ContractFinding]:
    message, route = "", ("ship", "requested")
    if report.ship is None:
        if brief.ship and report.status == "done_clean":
            message = "the brief asks to ship the work, but the result does not report the outcome"
    elif report.ship.requested and not brief.ship:
        message = "the result says that shipping was requested, but the brief does not ask for it"
    elif brief.ship and not report.ship.requested:
        message = "the brief asks to ship the work, but the result says that it was not requested"
    # Shipping that was not asked for is a mismatch even if the result does not claim that it was.
    elif not brief.ship and report.ship.result in ("ok", "failed", "frozen"):
        message, route = "the work was shipped, but the brief does not ask for it", ("ship", "result")
    if message:
        yield ContractFinding(row.RESULT_BRIEF_MISMATCH, route, message, "", ("ship",), "the brief")


def find_blocked_end(report: SessionReport, blocker: Blocker) -> Iterator[ContractFinding]:
    """ILLEGAL_TERMINAL_STATE, with the blocker: a session that is done cannot have an open blocker.

    For another session, a mismatch.
    """
    if report.session is not None and report.session != blocker.session:
        message = f"the result is of session {quote(report.session)}, but the blocker is of session {quote(blocker.session)}"
        yield ContractFinding(
            row.RESULT_BRIEF_MISMATCH, ("session",), message, "", ("session",), "the blocker"
        )
    elif report.status == "done_clean":
        message = f"session {quote(blocker.session)} is `done_clean` and has a blocker"
        yield ContractFinding(
            row.ILLEGAL_TERMINAL_STATE, ("status",), message, "report `pending` or `failed`", ("session",), "the blocker"
        )  # fmt: skip
