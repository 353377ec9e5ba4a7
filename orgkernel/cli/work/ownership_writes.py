"""The question of Claude Code's hook before a tool writes: does the current worker own the file?"""

from __future__ import annotations

import os
import sys

from orgkernel.cli.output import echo_json
from orgkernel.cli.work.ownership_audit import find_sacred_files, open_governed
from orgkernel.cli.work.ownership_rules import build_write_rules, find_roles, store_rules
from orgkernel.cli.work.ownership_workers import find_workers_here
from orgkernel.errors import OrgkernelError, UsageError
from orgkernel.kernel.names import ACTIVE
from orgkernel.project.hooks.tool_calls import READING_TOOLS, read_tool_call
from orgkernel.project.hooks.write_decision import (
    WriteAnswer,
    decide_read,
    decide_write,
    list_bypasses,
    list_refused_reads,
    render_answer,
)


def answer_tool_call() -> None:
    """Answer the call on standard input: print nothing if it is allowed, otherwise that it is denied or needs an
    approval.
    """
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
        return decide_read(call, root, find_sacred_files(kernel, ACTIVE, root), find_roles(kernel))
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
    rules = build_write_rules((own[0], *others), kernel, root)
    answer = decide_write(call, root, rules)
    store_rules(rules, kernel, root, until)
    return answer


def _decide_without_brief(call: dict[str, object], root: str) -> WriteAnswer | None:
    kernel = open_governed(ACTIVE, (), no_cache=False)
    planned = read_tool_call(call, root, (), None)
    reads = list_refused_reads(planned, find_sacred_files(kernel, ACTIVE, root), find_roles(kernel))
    denied = (*list_bypasses(planned), *reads)
    return WriteAnswer(denied) if denied else None
