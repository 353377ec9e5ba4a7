"""What the hook of Claude Code asks before a tool writes: may whoever works here write this?"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from orgkernel.cli.output import echo_json
from orgkernel.cli.stores import located
from orgkernel.cli.work.ownership_audit import open_governed, sacred_of
from orgkernel.cli.work.ownership_workers import named_briefs, workers_here
from orgkernel.decisions.ownership.audit import audit_changes
from orgkernel.decisions.ownership.owners import AuditedWorker
from orgkernel.decisions.ownership.sacred import SacredFiles
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
            raise UsageError("the call of a tool is not an object")
        denied, unknown = _judge(call)
    except msgspec.DecodeError as error:
        denied, unknown = [], [f"the call of a tool cannot be read: {error}"]
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
    """Why the call is denied, and what cannot be told about it."""
    root = os.environ.get("CLAUDE_PROJECT_DIR") or call.get("cwd")
    if not isinstance(root, str) or not os.path.isdir(root):
        raise UsageError("the project is unknown", "set CLAUDE_PROJECT_DIR")
    os.chdir(root)
    own, others = workers_here()
    if len(own) > 1:
        raise UsageError(
            "ORGKERNEL_BRIEF names several briefs, so the writing worker is unknown", "name one brief"
        )
    worker = own[0]
    planned = read_tool_call(call, root, worker.brief.files_owned, worker.brief)
    kernel = open_governed(ACTIVE, (), no_cache=False)
    sacred = sacred_of(kernel, ACTIVE, root)
    by = replace(planned.changed.commits[0], briefs=((worker.brief.id or "").lower(),))
    answer = audit_changes(
        replace(planned.changed, commits=(by,)), [worker, *others], sacred=sacred, root=root
    )
    denied = [
        *_refusals(planned),
        *(f"{each.code}: {each.text}. {each.help}" for each in answer.findings if each.is_violation),
    ]
    unknown = [*planned.unseen, *(each.text for each in answer.findings if not each.is_violation)]
    if named_briefs():
        _note_for_next_time(worker, others, sacred, kernel, root)
    return denied, unknown


def _refusals(planned: PlannedWrites) -> Iterator[str]:
    for path in planned.outside:
        yield f"WRITE_NOT_OWNED: {quote(path)} lies outside of the project. Write to a file that the brief owns."
    for path in dict.fromkeys(path for each in planned.changed.files for path in each.touched):
        if any(name in _OF_THE_RULES for name in path.lower().split("/")):
            yield f"SACRED_SCOPE: {quote(path)} belongs to git, or to what checks this. A person changes it."
    if planned.command is not None:
        yield from (f"{each.code}: {each.message}. {each.help}" for each in planned.command.refusals)


def _note_for_next_time(
    worker: AuditedWorker, others: list[AuditedWorker], sacred: SacredFiles, kernel: Kernel | None, root: str
) -> None:
    """Write down what the script of the hook may pass without asking. Without it, it asks."""
    if not os.path.isdir(os.path.dirname(OWNED_FILES)) or any(True for _ in sacred.find_unreadable()):
        return
    store = located(None)
    if not store.path:
        return
    read = (
        [] if kernel is None else [os.path.abspath(each.path) for each in kernel.state.latest.tree.documents]
    )
    watched = {
        root, *named_briefs(), FILE, "pyproject.toml", store.path, f"{store.path}-wal", *read, *map(os.path.dirname, read),
    }  # fmt: skip
    held = [
        *sacred.list_withheld(worker.brief),
        *(path for each in others for path in each.brief.files_owned),
    ]
    with contextlib.suppress(OSError):
        write_owned_files(root, worker.brief.files_owned, held, sorted(map(os.path.abspath, watched)))
