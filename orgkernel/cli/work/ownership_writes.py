"""The question of Claude Code's hook before a tool writes: does the current worker own the file?"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from orgkernel.cli.output import echo_json
from orgkernel.cli.stores import locate_current_store
from orgkernel.cli.work.ownership_audit import find_sacred_files, open_governed
from orgkernel.cli.work.ownership_workers import find_workers_here, list_named_briefs
from orgkernel.decisions.command_programs import build_programs
from orgkernel.errors import OrgkernelError, UsageError
from orgkernel.kernel.names import ACTIVE
from orgkernel.kernel.settings import FILE
from orgkernel.project.hooks.owned_files import write_owned_files
from orgkernel.project.hooks.quick_answers import OWNED_FILES
from orgkernel.project.hooks.tool_calls import READING_TOOLS, read_tool_call
from orgkernel.project.hooks.write_decision import (
    WriteAnswer,
    WriteRules,
    decide_read,
    decide_write,
    list_bypasses,
    list_refused_reads,
    pack_rules,
    render_answer,
)
from orgkernel.shell.catalog import read_shipped_programs

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel


def answer_tool_call() -> None:
    """Answer the call on standard input: nothing if it may go on as usual, else that it is denied, or to ask a person."""
    import msgspec

    try:
        call = msgspec.json.decode(sys.stdin.buffer.read())
        if not isinstance(call, dict):
            raise UsageError("the tool call is not a JSON object")
        answer = _decide(call)
    except msgspec.DecodeError as error:
        answer = WriteAnswer(unknown=(f"the tool call cannot be read: {error}",))
    except OrgkernelError as error:
        answer = WriteAnswer(
            unknown=(f"cannot decide whether this is allowed: {error.message}. {error.help}",)
        )
    if rendered := render_answer(answer):
        echo_json(msgspec.json.encode(rendered).decode())


def _decide(call: dict[str, object]) -> WriteAnswer:
    root = os.environ.get("CLAUDE_PROJECT_DIR") or call.get("cwd")
    if not isinstance(root, str) or not os.path.isdir(root):
        raise UsageError("the project is unknown", "set CLAUDE_PROJECT_DIR")
    os.chdir(root)
    if call.get("tool_name") in READING_TOOLS:
        kernel = open_governed(ACTIVE, (), no_cache=False)
        return decide_read(call, root, find_sacred_files(kernel, ACTIVE, root), _find_roles(kernel))
    try:
        own, others, until = find_workers_here()
    except UsageError:
        # Without a brief, nothing is owned, but secrets and hooks are protected all the same.
        if answer := _decide_without_brief(call, root):
            return answer
        raise
    if len(own) > 1:
        raise UsageError(
            "ORGKERNEL_BRIEF names several briefs, so the writing worker is unknown", "name one brief"
        )
    kernel = open_governed(ACTIVE, (), no_cache=False)
    programs = (
        read_shipped_programs()
        if kernel is None
        else build_programs(kernel.organization(ACTIVE).snapshot.records)
    )
    rules = WriteRules(
        (own[0], *others),
        find_sacred_files(kernel, ACTIVE, root),
        programs,
        _find_roles(kernel),
        _list_protected(kernel, root),
    )
    answer = decide_write(call, root, rules)
    _note_for_next_time(rules, kernel, root, until)
    return answer


def _decide_without_brief(call: dict[str, object], root: str) -> WriteAnswer | None:
    kernel = open_governed(ACTIVE, (), no_cache=False)
    planned = read_tool_call(call, root, (), None)
    reads = list_refused_reads(planned, find_sacred_files(kernel, ACTIVE, root), _find_roles(kernel))
    denied = (*list_bypasses(planned), *reads)
    return WriteAnswer(denied) if denied else None


def _list_protected(kernel: Kernel | None, root: str) -> tuple[str, ...]:
    """The documents of the organization, the project file and the store, which decide what workers may do."""
    read = [] if kernel is None else [each.path for each in kernel.state.latest.tree.documents]
    store = locate_current_store(None).path
    top = os.path.realpath(root)
    files = (os.path.realpath(each) for each in (*read, FILE, *([store] if store else [])))
    return tuple(os.path.relpath(each, top) if each.startswith(top + os.sep) else each for each in files)


def _find_roles(kernel: Kernel | None) -> tuple[str, ...]:
    """The roles of the holder that ORGKERNEL_HOLDER names."""
    from orgkernel.decisions.access.identity import identify  # which few calls need

    holder = os.environ.get("ORGKERNEL_HOLDER")
    if kernel is None or not holder:
        return ()
    identity = identify(kernel.access(ACTIVE).view, holder)
    return () if identity is None else identity.roles


def _note_for_next_time(rules: WriteRules, kernel: Kernel | None, root: str, until: float) -> None:
    """Record what the hook script may decide with, without starting orgkernel.

    If this fails, the script asks again.
    """
    worker, *others = rules.workers
    sacred = rules.sacred
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
        *rules.protected,
    ]
    files = sorted(map(os.path.abspath, watched))
    with contextlib.suppress(OSError):
        write_owned_files(root, worker.brief.files_owned, held, files, pack_rules(rules), until)
