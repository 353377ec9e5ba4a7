"""Answer an event of Claude Code. After an error, the answer is the decision that was chosen when the hook was installed.

A call that cannot be understood is refused, and so is every call if the activation is missing or damaged. An allowed call prints nothing, so the host's own rules still apply.
"""

from __future__ import annotations

import os
import sys

from orgkernel.project.hooks.claude_hook.activated import HookFault, NotUnderstood, find_project, read_active
from orgkernel.project.hooks.deadline import SECONDS, Deadline, OutOfTime
from orgkernel.project.hooks.engine import json_reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGEST_CALL = 64 * 1024 * 1024
_MAX_LENGTH = 300
OUT = "orgkernel: to remove the hook, run `orgkernel host deactivate --claude-code` with the folder of the project"


def main(arguments: list[str]) -> int:
    """Answer the event on standard input. The exit code is always 0, because the decision is in the answer."""
    event, on_error = (*arguments, "", "")[:2]
    try:
        with Deadline():
            answer = answer_event(event, _read_all(), os.environ.get("CLAUDE_PROJECT_DIR", ""))
    except NotUnderstood as problem:
        answer = refuse(event, f"orgkernel: the call cannot be understood, so it is refused: {problem}")
    except OutOfTime:
        answer = refuse(
            event, f"orgkernel: the call is refused, because to decide it takes more than {SECONDS} seconds"
        )
    # Anything else is a fault of the hook. The person who installed it chose whether calls are then allowed.
    except Exception as problem:
        answer = answer_failure(event, on_error, problem)
    if answer:
        sys.stdout.write(_render(answer) + "\n")
    return 0


def answer_event(event: str, given: bytes, project: str) -> dict[str, object]:
    """The answer to an event, or an empty string. Raises `NotUnderstood`, and any error of the hook."""
    call = _parse(given)
    if call.get("hook_event_name", event) != event:
        raise NotUnderstood(f"it is not a call of {event}")
    folder = find_project(project, call.get("cwd"))
    active = read_active(folder)
    if event == "PreToolUse":
        from orgkernel.project.hooks.claude_hook.deciding import decide_call

        outcome, text = decide_call(active, call)
        if active.settings["enforcement"] == "observe" and outcome in ("deny", "ask"):
            return {"systemMessage": f"orgkernel would {'ask' if outcome == 'ask' else 'refuse'}: {text}"}
        if outcome == "warn":
            return {"systemMessage": text}
        return {} if outcome == "allow" else _build_decision(outcome, text, active.data)
    if event == "SubagentStop":
        from orgkernel.project.hooks.claude_hook.reporting import report_end

        problem = report_end(active, call)
        return {"systemMessage": f"orgkernel: the report could not be written: {problem}"} if problem else {}
    if event == "SessionStart":
        from orgkernel.project.hooks.claude_hook.drifting import describe_session

        session = describe_session(active, call)
        return {
            "hookSpecificOutput": {"hookEventName": event, "additionalContext": session.context},
            **({"systemMessage": "\n".join(session.drift)} if session.drift else {}),
        }
    raise NotUnderstood(f"there is no event {event[:40]!a} here")


def answer_failure(event: str, on_error: str, problem: Exception) -> dict[str, object]:
    """The answer after an error of the hook. Without a valid activation, a call is refused whatever was chosen."""
    what = str(problem) if isinstance(problem, HookFault) else f"{type(problem).__name__}: {problem}"
    what = _escape(what)[:_MAX_LENGTH]
    # A missing or damaged activation is refused in any case. Otherwise deleting a file would switch the rules off.
    if event == "PreToolUse" and (on_error != "pass" or isinstance(problem, HookFault)):
        return {
            **refuse(event, f"orgkernel: the hook failed, so the call is refused: {what}"),
            "systemMessage": OUT,
        }
    passed = ", so the organization was not consulted" if event == "PreToolUse" else ""
    return {"systemMessage": f"orgkernel: the hook failed{passed}: {what}\n{OUT}"}


def refuse(event: str, text: str) -> dict[str, object]:
    """A refusal, or a message if the event cannot be refused."""
    return _build_decision("deny", text, {}) if event == "PreToolUse" else {"systemMessage": text}


def _build_decision(outcome: str, text: str, data: dict[str, Any]) -> dict[str, object]:
    """A decision. The host shows the reason of a refusal to the agent, and a message and a question to the user."""
    commands: list[str] = []
    if outcome == "deny":
        text, commands = _take_out_operator_commands(text, data)
    decision = {
        "hookEventName": "PreToolUse",
        "permissionDecision": outcome,
        "permissionDecisionReason": text,
    }
    message = "\n".join(("orgkernel refused a call. An operator could run:", *dict.fromkeys(commands)))
    return {"hookSpecificOutput": decision, **({"systemMessage": message} if commands else {})}


def _take_out_operator_commands(text: str, data: dict[str, Any]) -> tuple[str, list[str]]:
    """A refusal without the lines that contain commands of an operator, and those commands."""
    from orgkernel.project.hooks.claude_hook.operating import is_harmless

    lines: list[str] = []
    commands: list[str] = []
    for line in text.split("\n"):
        words = line.split()
        if "orgkernel" not in words or is_harmless(words[words.index("orgkernel") + 1 :], data):
            lines.append(line)
        else:
            commands.append("  " + line.strip())
    return "\n".join(lines), commands


def _read_all() -> bytes:
    given = sys.stdin.buffer.read(LARGEST_CALL + 1)
    if len(given) > LARGEST_CALL:
        raise NotUnderstood(f"it has more than {LARGEST_CALL:,} bytes")
    return given


def _parse(given: bytes) -> dict[str, object]:
    try:
        call = json_reader.parse(given)
    except (ValueError, RecursionError) as error:
        raise NotUnderstood("it is not JSON") from error
    if not isinstance(call, dict):
        raise NotUnderstood("it is not an object")
    return call


def _render(value: object) -> str:
    """JSON in ASCII, which every output encoding can write."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_render(name)}: {_render(each)}" for name, each in value.items()) + "}"
    return json_reader.quote(str(value))


def _escape(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)
