"""Generates agents' files that readers of front matter could read in different ways."""

from __future__ import annotations

from typing import Literal

from hypothesis import strategies as st

HostName = Literal["claude-code", "gemini-cli", "opencode"]

_TEXTS = (
    "reads code", "x --- y", "x ---", "--- x", "a # b", '"a # b"', "'it''s'", "a: b", "- x", "@x", "%x", "`x`", "&a x", "*a",
    "|\n  a\n  b", ">-\n  a\n  ---\n  b", "|\n  a\n---x\n  b", "\tx", "x\ty", "yes", "on", "null", "~", "1", "1.0", "0x1F",
    "2024-01-01", "\u00a0x", "x\u2028y", "[a]", "{a: b}", "", '""', "x\n  y", "x\n  y: z", '"a\n  b"', '"a\\u0020b"', '"unclosed',
    "x # --- y", "x\n\n  y", "? x", "true", ".inf", "1_000", "12:30", "x: y: z", "x:y", "[", "]", "}", '"x" y', "|2\n    a", ">\n\n  a",
)  # fmt: skip
_TOOLS = (
    "{a}, {b}", "{a},{b}", "{a} {b}", "[{a}, {b}]", '["{a}"]', "\n  - {a}\n  - {b}", "\n- {a}\n- {b}", '""', "[]", "", "null", '"*"',
    "['*']", "*", "~", "{b}(git:*)", "{b}(git status:*), {a}", "[[{a}]]", "{{{a}: true}}", "[{a}, 1]", "[null]", "yes", "false",
    "{a} # {b}", "{a}, #{b}", "&t [{a}]", "{a},\n  {b}", "|\n  {a}\n  {b}", ">-\n  {a},\n  {b}", "{a};{b}", "{a}\t{b}", "{a},\u00a0{b}",
    '"{a}, {b}"', '["{a}, {b}"]', "[{a} {b}]", "{a},,{b}", ", {a}", "{a},", "{a}, {a}", "['{a}', \"{b}\"]", "[{a}, {b}", "{a}]",
    "\n  - {a}, {b}", "\n  -{a}\n  - {b}", "[\n {a},\n {b}\n]", "0", "{a} --- {b}", "{b}(x, y), {a}", "{b}(x", "{a} and {b}",
    '"{a}", "{b}"', "*, {a}",
)  # fmt: skip
_PERMISSIONS = (
    "deny", "ask", "allow", "Deny", "'deny'", "no", "null", "{}", "{edit: deny}", "{edit: deny, '*': allow}", "{'*': allow, edit: deny}",
    "{edit: {'*': deny}}", "{edit: {'src/*': deny}}", "{edit: {'*': deny, 'src/*': allow}}", "{bash: {'*': deny, 'git *': allow}}",
    "{bash: {'git *': allow, '*': deny}}", "{bash: {'*': allow, 'rm *': deny}}", "{edit: no}", "{write: deny}", "{patch: deny}",
    "{'ed*': deny}", "{'e?it': deny}", "{'[e]dit': deny}", "{EDIT: deny}", "{edit: deny, edit: allow}", "\n  edit: deny\n  bash: ask",
    "{'*': deny}", "{'*': deny, read: allow}", "{read: allow, '*': deny}", "{'': deny}", "deny # x", "|\n  deny", ">-\n  deny", "&a deny",
    "{'*': deny, bash: {'ls': allow}}", "{'*': {'*': deny}}", "{'b*h': deny, bash: allow}", "{bash: allow, 'b*h': deny}",
    "{edit: {'*': deny}, '*': allow}",
)  # fmt: skip
_OPENINGS = (
    "---\n",
    "---\n",
    "---\n",
    "--- \n",
    "---\t\n",
    " ---\n",
    "\n---\n",
    "----\n",
    "--- # x\n",
    "---\n---\n",
    "---\n\n",
    "---\n# c\n",
)
_ENDINGS = (
    "---\n",
    "---\n",
    "---\n",
    "--- \n",
    "---x\n",
    "...\n",
    " ---\n",
    "",
    "----\n",
    "\t\n---\n",
    "---\u00a0\n",
)
_LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r")
_NAMES: dict[HostName, tuple[str, str]] = {
    "claude-code": ("Read", "Bash"),
    "gemini-cli": ("read_file", "run_shell_command"),
    "opencode": ("read", "bash"),
}


@st.composite
def agent_files(draw: st.DrawFn, host: HostName) -> str:
    """The text of an agent's file: fields with values that are hard to read, in any order, between two fences."""
    first, second = _NAMES[host]
    field = "permission" if host == "opencode" else "tools"
    values = _PERMISSIONS if host == "opencode" else tuple(each.format(a=first, b=second) for each in _TOOLS)
    fields = {
        "name": draw(st.one_of(st.just("a"), st.sampled_from(_TEXTS))),
        "description": draw(st.one_of(st.just("Reads. Use when x."), st.sampled_from(_TEXTS))),
        field: draw(st.sampled_from(values)),
    }
    if host == "opencode":
        del fields["name"]
        if draw(st.booleans()):
            fields["mode"] = draw(st.sampled_from(("subagent", "primary", "all")))
    lines = [f"{key}: {value}\n" for key, value in fields.items()]
    if draw(st.integers(0, 4)) == 0:
        lines.append(draw(st.sampled_from(lines)))
    order = draw(st.permutations(lines))
    text = draw(st.sampled_from(_OPENINGS)) + "".join(order) + draw(st.sampled_from(_ENDINGS)) + "Work.\n"
    return text.replace("\n", draw(st.sampled_from(_LINE_ENDS)))
