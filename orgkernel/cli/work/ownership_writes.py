"""The question of Claude Code's hook before a tool writes: does the current worker own the file?"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from orgkernel.cli.output import echo_json
from orgkernel.cli.stores import locate_current_store
from orgkernel.cli.work.ownership_audit import find_sacred_files, open_governed
from orgkernel.cli.work.ownership_workers import find_workers_here, list_named_briefs
from orgkernel.decisions.ownership.audit import audit_changes
from orgkernel.decisions.ownership.owners import AuditedWorker
from orgkernel.decisions.ownership.sacred import SacredFiles
from orgkernel.decisions.work.contracts.programs import build_programs
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import OrgkernelError, UsageError
from orgkernel.kernel.names import ACTIVE
from orgkernel.kernel.settings import FILE
from orgkernel.project.hooks.owned_files import write_owned_files
from orgkernel.project.hooks.tool_calls import PlannedWrites, read_tool_call
from orgkernel.project.hooks.write_hook import OWNED_FILES

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel

_OF_THE_RULES = (".git", ".orgkernel", ".claude")


def answer_tool_call() -> None:
    """Answer the call on standard input: nothing if it may go on as usual, else that it is denied, or to ask a person."""
    import msgspec

    try:
        call = msgspec.json.decode(sys.stdin.buffer.read())
        if not isinstance(call, dict):
            raise UsageError("the tool call is not a JSON object")
        denied, unknown = _judge(call)
    except msgspec.DecodeError as error:
        denied, unknown = [], [f"the tool call cannot be read: {error}"]
    except OrgkernelError as error:
        denied, unknown = [], [f"cannot decide whether this is allowed: {error.message}. {error.help}"]
    if denied or unknown:
        answer = {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny" if denied else "ask",
            "permissionDecisionReason": "\n".join(denied or unknown),
        }
        echo_json(msgspec.json.encode({"hookSpecificOutput": answer}).decode())


def _judge(call: dict[str, object]) -> tuple[list[str], list[str]]:
    """Find the reason for a denial, and the questions that cannot be decided."""
    root = os.environ.get("CLAUDE_PROJECT_DIR") or call.get("cwd")
    if not isinstance(root, str) or not os.path.isdir(root):
        raise UsageError("the project is unknown", "set CLAUDE_PROJECT_DIR")
    os.chdir(root)
    own, others = find_workers_here()
    if len(own) > 1:
        raise UsageError(
            "ORGKERNEL_BRIEF names several briefs, so the writing worker is unknown", "name one brief"
        )
    worker = own[0]
    kernel = open_governed(ACTIVE, (), no_cache=False)
    programs = None if kernel is None else build_programs(kernel.organization(ACTIVE).snapshot.records)
    planned = read_tool_call(call, root, worker.brief.files_owned, worker.brief, programs)
    sacred = find_sacred_files(kernel, ACTIVE, root)
    by = replace(planned.changed.commits[0], briefs=((worker.brief.id or "").lower(),))
    answer = audit_changes(
        replace(planned.changed, commits=(by,)), [worker, *others], sacred=sacred, root=root
    )
    denied = [
        *_render_refusals(planned),
        *(f"{each.code}: {each.text}. {each.help}" for each in answer.findings if each.is_violation),
    ]
    unknown = [*planned.unseen, *(each.text for each in answer.findings if not each.is_violation)]
    if list_named_briefs():
        _note_for_next_time(worker, others, sacred, kernel, root)
    return denied, unknown


def _render_refusals(planned: PlannedWrites) -> Iterator[str]:
    for path in planned.outside:
        yield f"WRITE_NOT_OWNED: {quote(path)} is outside the project. Write to a file that the brief owns."
    for path in dict.fromkeys(path for each in planned.changed.files for path in each.touched):
        if any(name in _OF_THE_RULES for name in path.lower().split("/")):
            yield f"SACRED_SCOPE: {quote(path)} belongs to git, or to the checks of orgkernel. Only a person can change it."
    if planned.command is not None:
        yield from (f"{each.code}: {each.message}. {each.help}" for each in planned.command.refusals)


def _note_for_next_time(
    worker: AuditedWorker, others: list[AuditedWorker], sacred: SacredFiles, kernel: Kernel | None, root: str
) -> None:
    """Record the writes that the hook script may allow without starting orgkernel.

    If this fails, the script asks again.
    """
    if not os.path.isdir(os.path.dirname(OWNED_FILES)) or any(True for _ in sacred.find_unreadable()):
        return
    store = locate_current_store(None)
    if not store.path:
        return
    read = (
        [] if kernel is None else [os.path.abspath(each.path) for each in kernel.state.latest.tree.documents]
    )
    watched = {
        root, *list_named_briefs(), FILE, "pyproject.toml", store.path, f"{store.path}-wal", *read, *map(os.path.dirname, read),
    }  # fmt: skip
    held = [
        *sacred.list_withheld(worker.brief),
        *(path for each in others for path in each.brief.files_owned),
    ]
    with contextlib.suppress(OSError):
        write_owned_files(root, worker.brief.files_owned, held, sorted(map(os.path.abspath, watched)))
