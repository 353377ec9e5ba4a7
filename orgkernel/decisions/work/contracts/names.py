"""The rules for names in contracts: a reader sees every character of them, and no contract refers to itself."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final, Literal

from orgkernel.decisions.work.contracts.findings import ContractFinding, Route, is_same_id, is_same_name
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import (
    Contract,
    Correction,
    LmcRecord,
    MissionClose,
    Preflight,
    SessionReport,
)
from orgkernel.loading.marks import format_route

_JOINERS: Final = "\u200c\u200d"
"""Characters without a width that change how letters of some scripts, and emoji, are shown together."""
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that look like spaces."""
_NAMES: Final = (
    "agent", "session", "approved_by", "project", "lead", "escalated_to", "operation", "original",
)  # fmt: skip
_COMMANDS: Final = ("verify_command", "command")
_SENTENCES: Final = ("mission", "title", "task")
TextKind = Literal["name", "command", "sentence"]


def find_invisible_characters(contract: Contract) -> Iterator[ContractFinding]:
    """INVISIBLE_CHARACTER: a name, a command or a mission has a character that its reader does not see."""
    for kind, route, text in _list_texts(contract):
        if position := find_invisible(text or "", kind):
            yield _report_invisible(route, text or "", position)


def find_invisible(text: str, kind: TextKind = "name") -> int:
    """The position of the first character that a reader does not see, from 1; 0 if there is none.

    A command and a sentence can have several lines. In a sentence, joiners next to a character outside of ASCII
    and wide
    spaces are allowed, too.

    >>> find_invisible("worker-1"), find_invisible("worker\u200b-1"), find_invisible("a\u00a0b", "sentence")
    (0, 7, 0)
    """
    if text.isascii() and text.isprintable():
        return 0
    for number, character in enumerate(text):
        category = unicodedata.category(character)
        if character not in _BLANK and category[0] not in "CZ":
            continue
        if character == " " or (kind != "name" and character in "\n\t") or category == "Cn":
            continue
        if kind == "sentence":
            beside = text[max(0, number - 1) : number] + text[number + 1 : number + 2]
            if category == "Zs" or (character in _JOINERS and not beside.isascii()):
                continue
        return number + 1
    return 0


def _list_texts(contract: Contract) -> Iterator[tuple[TextKind, Route, str | None]]:
    kinds: dict[TextKind, tuple[str, ...]] = {"name": _NAMES, "command": _COMMANDS, "sentence": _SENTENCES}
    for kind, fields in kinds.items():
        for field in fields:
            yield kind, (field,), getattr(contract, field, None)
    if isinstance(contract, SessionReport):
        yield "command", ("evidence", "verify_command"), contract.evidence.verify_command
    if isinstance(contract, MissionClose):
        for number, worker in enumerate(contract.workers or ()):
            yield "name", ("workers", number, "agent"), worker.agent
            yield "name", ("workers", number, "session"), worker.session
    if isinstance(contract, LmcRecord):
        for number, attempt in enumerate(contract.attempts):
            for part in ("manager", "checker"):
                member = getattr(attempt, part)
                yield "name", ("attempts", number, part, "agent"), None if member is None else member.agent


def _report_invisible(route: Route, text: str, position: int) -> ContractFinding:
    character = text[position - 1]
    name = unicodedata.name(character, "a control character").lower()
    shown = quote(format_route(route))
    message = f"{shown} has the character U+{ord(character):04X} ({name}) at position {position}, which a reader does not see"
    return ContractFinding(row.INVISIBLE_CHARACTER, route, message, "remove it, or write a space")


def find_self_reference(contract: Contract) -> Iterator[ContractFinding]:
    """SELF_REFERENCE: a contract names itself where it has to name another contract, session or agent."""
    for route, target, own in _list_references(contract):
        if is_same_id(target, own):
            message = f"{quote(str(route[-1]))} is {quote(target)}, the contract itself"
            yield ContractFinding(
                row.SELF_REFERENCE, route, message, "name the other contract, or leave it out"
            )
    if isinstance(contract, MissionClose):
        for number, worker in enumerate(contract.workers or ()):
            if worker.session is not None and worker.session == contract.session:
                message = f"the close lists its own session {quote(worker.session)} as that of a worker"
                yield ContractFinding(row.SELF_REFERENCE, ("workers", number, "session"), message)
    if isinstance(contract, LmcRecord) and is_same_name(contract.escalated_to or "", contract.lead):
        message = f"{quote(contract.lead)} escalates to itself"
        yield ContractFinding(row.SELF_REFERENCE, ("escalated_to",), message, "escalate to the sender")


def _list_references(contract: Contract) -> Iterator[tuple[Route, str | None, str | None]]:
    own: str | None = getattr(contract, "id", None)
    for name in ("parent", "replaces", "brief", "supersedes", "answers"):
        yield (name,), getattr(contract, name, None), own
    if isinstance(contract, Correction):
        yield ("original",), contract.original, own
    if isinstance(contract, Preflight) and contract.authorization is not None:
        yield ("authorization", "brief"), contract.authorization.brief, own
    if isinstance(contract, MissionClose):
        for number, worker in enumerate(contract.workers or ()):
            yield ("workers", number, "result"), worker.result, own
