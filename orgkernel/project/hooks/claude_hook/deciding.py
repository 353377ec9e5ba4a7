"""Look up the compiled answer: may the calling role make this call of a tool?

The role is that of the subagent, by its name, or the one that is named for the main thread. Paths are compared here,
because they are known only now: as they are written, and where links lead.
"""

from __future__ import annotations

import os
import time

from orgkernel.project.hooks.claude_hook.activated import ActiveOrganization, NotUnderstood
from orgkernel.project.hooks.claude_hook.prefixes import does_write
from orgkernel.project.hooks.claude_hook.protected import find_protected
from orgkernel.project.hooks.claude_hook.secret_reads import decide_secret_read
from orgkernel.project.hooks.engine.glob_matcher import match_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from orgkernel.runtime.commands import SimpleCommand

FREE: Final = "none"
"""Instead of a role of the main thread: only the host's own rules apply there."""
HANDOFF_TOOLS: Final = ("Agent", "Task")
DEFAULT_AGENT: Final = "general-purpose"
PATH_ARGUMENTS: Final = {
    "Read": ("file_path",),
    "Write": ("file_path",),
    "Edit": ("file_path",),
    "MultiEdit": ("file_path",),
    "NotebookEdit": ("notebook_path",),
    "Glob": ("path",),
    "Grep": ("path",),
    "LS": ("path",),
    "NotebookRead": ("notebook_path",),
}
"""The arguments of the host's own tools that contain paths."""
COMMAND_ARGUMENTS: Final = {"Bash": ("command",)}
"""The arguments that contain shell commands."""
WRITING: Final = ("Write", "Edit", "MultiEdit", "NotebookEdit")
PLACEHOLDER: Final = "/0orgkernel0path0"
"""The placeholder for the path of the call in a compiled text."""
_MCP: Final = "mcp__"
_MAX_LENGTH: Final = 120
_MAX_SHOWN: Final = 10
CallAnswer = tuple[str, str]
"""The word allow, deny, ask or warn, and the reason."""


def decide_call(active: ActiveOrganization, call: dict[str, Any]) -> CallAnswer:
    """Whether the caller may make a call. Raises `NotUnderstood`."""
    tool, given = call.get("tool_name"), call.get("tool_input")
    if not isinstance(tool, str) or not tool or not isinstance(given, dict):
        raise NotUnderstood("it has no `tool_name` or no `tool_input`")
    name = get_caller(call)
    built_in = None if name is None else active.find_built_in(name)
    is_main = name is None or built_in is not None
    role = active.settings["main_role"] if is_main else active.get_role(name or "")
    # A person works in the main thread and asked for no rules there. Subagents have their rules all the same.
    if name is None and role == FREE:
        return "allow", ""
    answers = None if role in (None, FREE) else active.read_answers(str(role))
    rights = [] if answers is None else _list_operator_rights(answers["tools"], tool, given)
    # Before the role is looked at: what decides about roles must not be changed by any of them.
    if held := find_protected(active, tool, call, given, PATH_ARGUMENTS.get(tool, ()), rights):
        text = f"deny: {quote_foreign(held)} decides what agents may do here. Only a person can change it, outside of this session."
        return "deny", text
    if role is None:
        answer = _decide_nameless(active, name or "", tool)
    elif built_in is not None:
        answer = _decide_built_in(active, name or "", built_in, tool, answers, call, given)
    else:
        answer = _decide_for_role(active, answers or {}, tool, call, given)
    if answer[0] == "deny":
        return answer
    # No right of a role lifts the rule about secret files; only the readers of a sacred scope may read them.
    reader = None if role in (None, FREE) else role
    read = decide_secret_read(active, reader, tool, call, given, PATH_ARGUMENTS.get(tool, ()))
    return answer if read[0] == "allow" else read


def _decide_for_role(
    active: ActiveOrganization,
    answers: dict[str, Any],
    tool: str,
    call: dict[str, Any],
    given: dict[str, Any],
) -> CallAnswer:
    if tool in HANDOFF_TOOLS:
        return _describe_answer(active, _decide_handoff(active, answers, given))
    # A row for the beginning of a command says more than one for the whole tool, so it decides.
    row = find_prefix(answers["tools"], tool, given) or find_row(answers["tools"], tool, active.stand_ins)
    if row is None:
        return _decide_unlisted(active, tool, answers["role"])
    return _describe_answer(active, find_answer(row, active, call, given))


def _decide_built_in(
    active: ActiveOrganization, name: str, built_in: dict[str, Any], tool: str, answers: dict[str, Any] | None,
    call: dict[str, Any], given: dict[str, Any],
) -> CallAnswer:  # fmt: skip
    """The answer to an agent of the host. It works in the role of the main thread, with the tools that the host gives it."""
    asks = tool in built_in.get("asks", ())
    tools = built_in.get("tools")
    if (
        tools is not None
        and tool not in tools
        and not asks
        and tool not in active.data.get("session_tools", ())
    ):
        return (
            "deny",
            f"deny: agent {quote_foreign(name)} of Claude Code only has {', '.join(map(quote_foreign, tools))}.",
        )
    outcome, text = ("allow", "") if answers is None else _decide_for_role(active, answers, tool, call, given)
    if asks and outcome != "deny":
        return (
            "ask",
            f"ask: agent {quote_foreign(name)} of Claude Code is only to read, and {quote_foreign(tool)} can do more.",
        )
    return outcome, text


def _list_operator_rights(tools: dict[str, Any], tool: str, given: dict[str, Any]) -> list[list[str]]:
    """The beginnings of commands of orgkernel for which a role has a tool, if the call is one plain command."""
    command = given.get("command")
    if not isinstance(command, str) or not _WORDS.issuperset(command):
        return []
    # Only a plain command: in a longer one, the part that the role may run could carry another that it may not.
    starts = (
        each[len(tool) + 1 : -1].removesuffix(":*").removesuffix("*").split()
        for each, row in tools.items()
        if each.startswith(f"{tool}(orgkernel ")
        and each.endswith(")")
        and _apply_grants(row)["outcome"] != "deny"
    )
    return [each for each in starts if len(each) > 1]


def _describe_answer(active: ActiveOrganization, answer: CallAnswer) -> CallAnswer:
    """A compiled answer, with the command that makes a change of the documents take effect."""
    outcome, text = answer
    if not text:
        return answer
    from shlex import quote

    again = f"orgkernel host activate {active.data['org_id']} --claude-code {quote(shorten(active.project))}"
    return outcome, f"{text}\n  a change takes effect after: {again}"


def get_caller(call: dict[str, Any]) -> str | None:
    """The name of the calling agent; None for the main thread of a session that was started without an agent."""
    name = call.get("agent_type")
    if name is None and call.get("agent_id") is None:
        return None
    if not isinstance(name, str) or not isinstance(call.get("agent_id", ""), str):
        raise NotUnderstood("it does not say which agent calls")
    return name


def find_row(tools: dict[str, Any], tool: str, stand_ins: dict[str, str]) -> dict[str, Any] | None:
    """The compiled row of a tool: by its name, that of the tool that it stands in for, or its server."""
    if "(" in tool:
        return None
    if tool in tools:
        return _apply_grants(tools[tool])
    other = stand_ins.get(tool)
    if other in tools:
        return _apply_grants(tools[other])
    if tool.startswith(_MCP):
        server, _, action = tool.removeprefix(_MCP).partition("__")
        row = tools.get(_MCP + server)
        if row is not None:
            return _apply_grants(row.get("actions", {}).get(action) or row)
    return None


def find_prefix(tools: dict[str, Any], tool: str, given: dict[str, Any]) -> dict[str, Any] | None:
    """The compiled row with the longest prefix of a plain command, such as `Bash(git log:*)`.

    A command with more in it than words, such as a pipe, a variable or a second line, is decided as a whole.
    """
    command = given.get("command")
    beginnings = [each for each in tools if each.startswith(f"{tool}(") and each.endswith(")")]
    if not beginnings or not isinstance(command, str) or not _WORDS.issuperset(command):
        return None
    words = command.split()
    best: list[str] = []
    for each in beginnings:
        text = each[len(tool) + 1 : -1]
        start = text.removesuffix(":*").removesuffix("*").split()
        is_exact = not text.endswith("*")
        if len(start) > len(best) and words[: len(start)] == start and (not is_exact or words == start):
            best, prefix_row = start, tools[each]
    if not best or does_write(words[len(best) :], prefix_row.get("writing")):
        return None
    return _apply_grants(prefix_row)


_WORDS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-./:=@%+,")


def _apply_grants(row: dict[str, Any]) -> dict[str, Any]:
    """A row as of now: an answer that depends on a grant ends with the grant."""
    # Compiled answers cannot look into the store, so each carries the end of its grant and the answer after it.
    while "until" in row and time.time() >= row["until"]:
        row = row["after"]
    return row


def find_answer(
    row: dict[str, Any], active: ActiveOrganization, call: dict[str, Any], given: dict[str, Any]
) -> CallAnswer:
    """The answer of a row to a call, and to the paths of the call if it depends on them."""
    if "arguments" not in row:
        return row["outcome"], row.get("text", "")
    texts = [given[each] for each in row["arguments"] if each in given]
    if not texts:
        # A call without the argument could concern any path, so a rule about some paths might not apply to it.
        return _turn_into_question(row, row) if row.get("own") else (row["outcome"], row["text"])
    if "beginnings" in row:
        return _find_strictest_prefix(given, row)
    if "parts" in row:
        return _find_strictest_part(texts, row, active, call)
    outcome, text = row["inside"]["outcome"], row["inside"].get("text", "")
    for path in _each(texts):
        if path is None or not _is_inside(path, row, active, call):
            return row["outside"]["outcome"], row["outside"]["text"].replace(
                PLACEHOLDER, shorten(path or "?")
            )
    return outcome, text


def _each(values: list[Any]) -> list[str | None]:
    flat_values = [each for value in values for each in (value if isinstance(value, list) else [value])]
    return [each if isinstance(each, str) else None for each in flat_values] or [None]


def _find_strictest_part(
    texts: list[Any], row: dict[str, Any], active: ActiveOrganization, call: dict[str, Any]
) -> CallAnswer:
    """The strictest answer for the paths of a call. A path that could match several globs is treated as unknown."""
    from orgkernel.runtime.paths import is_inside, may_touch

    root = row.get("root") or active.project
    unknown = {**row, "text": f"{row.get('text', '')}\n  {_UNKNOWN}"}
    answers: list[tuple[str, str, str]] = []
    maybe = unknown
    if row.get("own"):
        outcome, text = _turn_into_question(unknown, row)
        maybe = {"outcome": outcome, "text": text}
    for path in _each(texts):
        ends = _resolve_ends(path, root, call) if path is not None and "\0" not in path else ()
        rows = []
        for end, is_below in ends:
            touched = [glob for glob in row["globs"] if may_touch(end, glob, root)]
            if not touched:
                rows.append(row.get("clear" if is_below else "elsewhere", maybe))
            elif len(touched) == 1 and is_inside(end, touched[0], root):
                rows.append(row["parts"].get(touched[0], unknown))
            else:
                # A rule of the host can name a folder with everything in it, and the file system can ignore case.
                whole = (f"{glob}{ending}".casefold() for glob in touched for ending in ("", "/**"))
                is_surely = any(is_inside(end.casefold(), each, root.casefold()) for each in whole)
                rows.append(unknown if is_surely else maybe)
        answers += [(each["outcome"], each.get("text", ""), path or "?") for each in rows or [unknown]]
    # One call is one decision: the path with the strictest answer decides for all of them.
    outcome, text, path = min(answers, key=lambda each: ("deny", "ask", "allow").index(each[0]))
    return outcome, _insert_path(text, shorten(path))


def _find_strictest_prefix(given: dict[str, Any], row: dict[str, Any]) -> CallAnswer:
    """The strictest answer for the commands of a call. A command that cannot be read completely matches every prefix, and
    a person is asked about it.
    """
    from orgkernel.runtime.commands import list_stated_commands, may_begin_with

    answers: list[CallAnswer] = []
    for command in list_stated_commands(row["arguments"], given, row.get("lists")):
        words, unread = (None, "") if command is None else _read_run(command)
        touched = [each for each in row["beginnings"] if may_begin_with(words, each)]
        for each in touched:
            part = row["parts"][each]
            if words is None and part.get("text"):
                part = {**part, "text": f"{part['text']}\n  {unread or _UNREADABLE}"}
            is_unread = words is None and command is not None
            answers.append(
                _turn_into_question(part, row) if is_unread else (part["outcome"], part.get("text", ""))
            )
        if not touched:
            answers.append((row["clear"]["outcome"], row["clear"].get("text", "")))
    return min(answers, key=lambda each: ("deny", "ask", "allow").index(each[0]))


def _turn_into_question(part: dict[str, Any], row: dict[str, Any]) -> CallAnswer:
    """An answer about rules of the host's own settings, for a call that may not be about them: instead of a refusal, a
    person is asked, if anything else of the row would be more than refused.
    """
    outcome, text = part["outcome"], part.get("text", "")
    if outcome != "deny" or row.get("clear", part)["outcome"] == "deny":
        return outcome, text
    reason = _OWN if part.get("own") else _READ_BY_PERSON
    return "ask", f"ask:{text.removeprefix('deny:')}\n  {reason}"


def _read_run(command: str) -> tuple[tuple[SimpleCommand, ...] | None, str]:
    """The programs that a command runs, and what cannot be read in it. The command catalog is read only if the text alone is not enough."""
    from orgkernel.runtime.commands import read_words

    words = read_words(command)
    if words is not None:
        return words, ""
    try:
        from orgkernel.shell.running import read_run
    except ImportError:  # the parser of shells is not installed
        return None, ""
    run = read_run(command)
    return run.commands, run.unread


_OWN: Final = "so a person is asked: Claude Code has this rule in its settings, and applies it as well"
_READ_BY_PERSON: Final = "so a person is asked, who can read it"
_UNREADABLE: Final = (
    "it cannot be parsed completely: the command has more in it than plain words, quotes, lists and pipes"
)
_UNKNOWN: Final = (
    f"decided as if no path was stated, because `{PLACEHOLDER}` could match several rules about paths"
)


def _insert_path(text: str, path: str) -> str:
    """A compiled text with the path of the call, quoted if it is part of a command to paste."""
    if PLACEHOLDER not in text:
        return text
    from shlex import quote

    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.lstrip().startswith("orgkernel "):
            words = line.split(" ")
            quoted_words = [
                quote(each.replace(PLACEHOLDER, path)) if PLACEHOLDER in each else each for each in words
            ]
            lines[number] = " ".join(quoted_words)
        else:
            lines[number] = line.replace(PLACEHOLDER, path)
    return "\n".join(lines)


def _resolve_ends(path: str, root: str, call: dict[str, Any]) -> tuple[tuple[str, bool], ...]:
    """A path as written and its target, relative to the root if they are inside, and whether they are."""
    cwd = call.get("cwd")
    if not path.startswith("/") and isinstance(cwd, str) and cwd.startswith("/"):
        path = f"{cwd}/{path}"
    ends = []
    for written in (path, os.path.realpath(path)):
        base = next((each for each in (root, os.path.realpath(root)) if written.startswith(each + "/")), None)
        ends.append((written if base is None else written[len(base) + 1 :], base is not None))
    return tuple(dict.fromkeys(ends))


def _is_inside(path: str, row: dict[str, Any], active: ActiveOrganization, call: dict[str, Any]) -> bool:
    """Whether a path and its target are certainly where the role may write."""
    root = row.get("root") or active.project
    if "\0" in path:
        return False
    for end, is_below in _resolve_ends(path, root, call):
        matches = [match_plain(end, glob) for glob in row["globs"]] if is_below else [None]
        if any(matches):
            continue
        if None not in matches:
            return False
        from orgkernel.runtime.paths import is_inside

        if not any(is_inside(end, glob, root) for glob in row["globs"]):
            return False
    return True


def _decide_handoff(active: ActiveOrganization, answers: dict[str, Any], given: dict[str, Any]) -> CallAnswer:
    """Whether a role may hand work to the agent that a call names."""
    target = given.get("subagent_type", DEFAULT_AGENT)
    if not isinstance(target, str):
        raise NotUnderstood("it does not say which agent is to be started")
    target = target or DEFAULT_AGENT
    role = active.get_role(target)
    whom = _list_dispatchable(active, answers)
    # An agent of the host works with the rights of the main thread, so starting it hands work to that role.
    if role is None and active.find_built_in(target) is not None:
        role = active.settings["main_role"]
        if role == answers["role"]:
            return "allow", ""  # with the same rights
        if role == FREE or role not in answers["handoffs"]:
            text = f"deny: agent {quote_foreign(target)} of Claude Code has the rights of the main thread, and role {quote_foreign(answers['role'])} has others"
            return "deny", f"{text}\n  {whom}"
    if role is None:
        outcome, text = _decide_unnamed(
            active, f"{_say_nameless(active, target)}, so nothing says who may start it"
        )
        return outcome, f"{text}\n  {whom}"
    row = answers["handoffs"].get(role)
    if row is None:
        question = f"role:{answers['role']} handoff role:{role}"
        return "deny", f"deny: {question}\n  {whom}\n  for the reason, run: orgkernel why {question}"
    text = row.get("text", "")
    return row["outcome"], f"{text}\n  {whom}" if row["outcome"] == "deny" else text


def _list_dispatchable(active: ActiveOrganization, answers: dict[str, Any]) -> str:
    """A sentence with the roles that a role may dispatch, with or without a question to a person."""
    role = answers["role"]
    roles = [each for each, row in answers["handoffs"].items() if each != role and row["outcome"] != "deny"]
    if not roles:
        return f"role {quote_foreign(role)} may dispatch no other role"
    more = f" and {len(roles) - _MAX_SHOWN} more" if len(roles) > _MAX_SHOWN else ""
    return (
        f"role {quote_foreign(role)} may dispatch: {', '.join(map(quote_foreign, roles[:_MAX_SHOWN]))}{more}"
    )


def _decide_nameless(active: ActiveOrganization, name: str, tool: str) -> CallAnswer:
    """The answer to a call of an agent that has no role with its name."""
    declared = tool in HANDOFF_TOOLS or find_row(active.data["tools"], tool, active.stand_ins) is not None
    if not declared:
        return _decide_unlisted(active, tool, None)
    text = f"{_say_nameless(active, name)}, so it has no right to {quote_foreign(tool)}"
    return _decide_unnamed(
        active, f"{text}. Use an agent of the organization, or declare a role of that name."
    )


def _say_nameless(active: ActiveOrganization, agent: str) -> str:
    return f"no role of {active.data['org_name']} is named after agent {quote_foreign(agent)}"


def _decide_unnamed(active: ActiveOrganization, text: str) -> CallAnswer:
    outcome = "ask" if active.settings["unnamed_agents"] == "ask" else "deny"
    return outcome, f"{outcome}: {text}"


def _decide_unlisted(active: ActiveOrganization, tool: str, role: str | None) -> CallAnswer:
    """The answer about a tool that no catalog lists, for a role, or for an agent without one."""
    from orgkernel.runtime.refusals import say_unlisted_tool

    chosen = active.unknown
    # Tools that only steer the session, such as the list of tasks, touch nothing that an organization protects.
    if chosen != "deny" and tool in active.data.get("session_tools", ()):
        return "allow", ""
    text = say_unlisted_tool(active.data["org_name"], quote_foreign(tool))
    if chosen == "pass" or (chosen == "ask" and role in active.data.get("unlimited_roles", ())):
        return "warn", f"orgkernel: {text}, so only the rules of Claude Code apply to it"
    declare = "Declare it with `names: {claude_code: …}`, or use a tool that is listed."
    return chosen, f"{chosen}: {text}. {declare}"


def shorten(text: str) -> str:
    """Foreign text for a message: on one line, and cut."""
    text = "".join(each if each.isprintable() and each != "`" else "�" for each in text)
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"


def quote_foreign(text: str) -> str:
    """A foreign name in quotes."""
    return f"`{shorten(text)}`"
