"""The rules for blockers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from orgkernel.decisions.work.contracts.findings import ContractFinding, find_mismatch, is_blank
from orgkernel.decisions.work.contracts.preferences import (
    find_phrase,
    find_preference,
    is_idle,
    say_preference,
)
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Blocker, Brief, SessionReport
from orgkernel.runtime.lazy_patterns import lazy_pattern

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_MENTIONS: Final = {
    "credential": lazy_pattern(
        r"(?i)\b(?:key|token|password|passphrase|credential|secret|login|log in|sign in|account|certificate|vault|access|2fa|otp|license|oauth|ssh)",
    ),
    "destructive op": lazy_pattern(
        r"(?i)delet|drop|remov|force|reset|truncat|destroy|overwrit|destructi|purge|wipe|prune|kill|rewrit|revok|irrevers|undone|erase|empt|clean|pay|send|_[a-z]",
    ),
    "scope expansion": lazy_pattern(
        r"(?i)\bscope|\bfile|\bfolder|\bdirector|\bmodule|\bown|\bpath|\bpackage|\w/\w|\w\.\w"
    ),
}
"""What the question of a blocker mentions if a human is really required for it."""


def find_nothing_blocked(blocker: Blocker) -> Iterator[ContractFinding]:
    """BLOCK_NOT_GENUINE: the blocker names no work that it blocks."""
    for name, value, what in (
        ("question", blocker.question, "asks nothing"),
        ("best_guess", blocker.best_guess, "has no best guess"),
    ):
        if is_blank(value):
            yield ContractFinding(row.BLOCK_NOT_GENUINE, (name,), f"the blocker {what}", f"write `{name}`")


def find_authorized_block(blocker: Blocker, brief: Brief) -> Iterator[ContractFinding]:
    """BLOCK_NOT_GENUINE, with the brief: the blocker asks for an operation that the brief authorizes.

    For another brief, a mismatch.
    """
    yield from find_mismatch("blocker", blocker.brief, brief.id)
    if blocker.human_required_for != "destructive op":
        return
    words = _WORD.findall(blocker.question or "")
    for number, operation in enumerate(brief.destructive):
        if operation in words:
            message = f"the blocker asks for {quote(operation)}, which its brief authorizes"
            yield ContractFinding(
                row.BLOCK_NOT_GENUINE, ("question",), message, "carry out the operation with its pre-flight",
                ("spec", "scope", "destructive", number), "the brief",
            )  # fmt: skip


def find_no_fallback(blocker: Blocker) -> Iterator[ContractFinding]:
    """BLOCK_NO_FALLBACK: the blocker has no useful fallback action."""
    if is_blank(blocker.fallback_action):
        yield ContractFinding(
            row.BLOCK_NO_FALLBACK, ("fallback_action",), "the blocker has no `fallback_action`"
        )
    elif _normalize(blocker.fallback_action) in (
        _normalize(blocker.question),
        _normalize(blocker.best_guess),
    ):
        message = (
            f"the fallback {quote(blocker.fallback_action)} repeats the blocker, and names no work for now"
        )
        yield ContractFinding(row.BLOCK_NO_FALLBACK, ("fallback_action",), message)
    elif is_idle(blocker.fallback_action or ""):
        message = f"the fallback {quote(blocker.fallback_action)} does no work now"
        yield ContractFinding(row.BLOCK_NO_FALLBACK, ("fallback_action",), message)


def _normalize(text: str | None) -> str:
    return " ".join((text or "").lower().strip(" .!").split())


def find_not_resumable(blocker: Blocker) -> Iterator[ContractFinding]:
    """BLOCK_NOT_RESUMABLE: the work cannot continue after an answer."""
    if blocker.can_resume_without_answer is not True:
        clause = (
            "says that the work cannot go on"
            if blocker.can_resume_without_answer is False
            else "does not say that the work can go on"
        )
        yield ContractFinding(
            row.BLOCK_NOT_RESUMABLE, ("can_resume_without_answer",), f"the blocker {clause} without an answer"
        )


def find_preference_question(blocker: Blocker) -> Iterator[ContractFinding]:
    """BLOCK_IS_PREFERENCE: the blocker asks for a preference.

    Fixed phrases always match; other words only if no human is required, or if the question does not mention what a
    human is required for.
    """
    question = blocker.question or ""
    required = _MENTIONS.get(blocker.human_required_for or "")
    is_about_it = required is not None and required.search(question) is not None
    words = find_phrase(question) or ("" if is_about_it else find_preference(question))
    if words:
        yield ContractFinding(row.BLOCK_IS_PREFERENCE, ("question",), *say_preference(words))


def find_blocker_of_done(blocker: Blocker, report: SessionReport) -> Iterator[ContractFinding]:
    """ILLEGAL_TERMINAL_STATE, with the result: a session that is done cannot have an open blocker.

    For another session, a mismatch.
    """
    if report.session is not None and report.session != blocker.session:
        message = f"the blocker is of session {quote(blocker.session)}, but the result is of session {quote(report.session)}"
        yield ContractFinding(
            row.RESULT_BRIEF_MISMATCH, ("session",), message, "", ("session",), "the result"
        )
    elif report.status == "done_clean":
        message = f"session {quote(blocker.session)} has a blocker, but is `done_clean`"
        yield ContractFinding(
            row.ILLEGAL_TERMINAL_STATE, ("session",), message, "", ("status",), "the result"
        )
