"""Generates agents' files that readers of front matter could read in different ways."""

from __future__ import annotations

from typing import Literal

from hypothesis import strategies as st

from orgkernel.loading.formats.front_matter import is_text

HostName = Literal["claude-code", "copilot", "gemini-cli", "opencode"]

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
    "copilot": ("read", "execute"),
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
    if host == "copilot" and not is_text(fields["name"].strip(), 0, "GitHub Copilot"):
        fields["name"] = (
            "a"  # a name that is no text is read in two ways, and an agent of another name is in neither
        )
    lines = [f"{key}: {value}\n" for key, value in fields.items()]
    if draw(st.integers(0, 4)) == 0:
        lines.append(draw(st.sampled_from(lines)))
    order = draw(st.permutations(lines))
    # Copilot ends front matter at dashes with any space after them, and does not know carriage returns alone.
    endings, line_ends = (_ENDINGS[:-1], _LINE_ENDS[:-1]) if host == "copilot" else (_ENDINGS, _LINE_ENDS)
    text = draw(st.sampled_from(_OPENINGS)) + "".join(order) + draw(st.sampled_from(endings)) + "Work.\n"
    return text.replace("\n", draw(st.sampled_from(line_ends)))


_TOML_TEXTS = (
    "'a'", '"""a"""', '"""\na"""', "'''\na'''", '"\\u0061"', '"a b"', '" a "', '"\u00e4"', "1", "true", '"1"', '""', '" "', '"a: b"', '"a --- b"', '"---"',
    '"a # b"', '"""a\\\n   b"""', '"a\\tb"', "1.0", "[]", '["a"]', "{}", "1979-05-27", "inf", '"unclosed', "'it''s'", '"\\e"', "a", '"[x]"', '"x = 1"',
    '"\U0001f6f0"', '"a\\u2028b"',
)  # fmt: skip
_TOML_LINES = (
    'sandbox_mode = "read-only"', 'sandbox_mode = "workspace-write"', 'sandbox_mode = "danger-full-access"', 'sandbox_mode = "readonly"', "sandbox_mode = 1",
    'web_search = "disabled"', 'web_search = "live"', "features.shell_tool = false", "features.shell_tool = true", "features = {shell_tool = false}",
    '"features"."shell_tool" = false', 'features.shell_tool = "false"', "features.shell_tool = 0", "features = 1", 'model = "x"', 'model = " x "', "model = 1",
    '# sandbox_mode = "read-only"', 'mcp_servers.jira = {command = "true"}', 'mcp_servers.jira = {command = "true", enabled = false}', "mcp_servers = 1",
    "features.shell_tool = false\nfeatures.shell_tool = true", 'approval_policy = "never"', 'nickname_candidates = ["Ann"]',
)  # fmt: skip


@st.composite
def codex_files(draw: st.DrawFn) -> str:
    """The text of an agent's file of Codex. Not there: fields that Codex does not know, with which it ignores an agent, and names
    with a line break, which its list of agents does not show.
    """
    fields = {
        "name": draw(st.one_of(st.just('"a"'), st.sampled_from(_TOML_TEXTS))),
        "description": draw(
            st.one_of(st.just('"Reads."'), st.just('"Reads."'), st.sampled_from(_TOML_TEXTS))
        ),
        "developer_instructions": draw(
            st.one_of(st.just('"Work."'), st.just('"Work."'), st.sampled_from(_TOML_TEXTS))
        ),
    }
    lines = [f"{key} = {value}" for key, value in fields.items()]
    lines += draw(st.lists(st.sampled_from(_TOML_LINES), max_size=2, unique=True))
    if draw(st.integers(0, 9)) == 0:
        lines.append(draw(st.sampled_from(lines)))
    tables = draw(
        st.sampled_from(
            (
                "",
                "",
                "",
                "[features]\nshell_tool = false\n",
                "[[features]]\nshell_tool = false\n",
                "[ features ]\nshell_tool=false\n",
            )
        )
    )
    beginning = draw(st.sampled_from(("", "", "", "\ufeff", "# c\n", "\n\n")))
    text = beginning + "\n".join(draw(st.permutations(lines))) + "\n" + tables
    return text.replace("\n", draw(st.sampled_from(_LINE_ENDS)))
