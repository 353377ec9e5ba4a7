"""Values that readers can read in different ways, in the formats whose hosts cannot be asked: Cursor, Agent Format, Agent-Zero.

A value that takes something away counts only if every reader of the format's language reads it so. Otherwise the wider reading
counts, and a finding names it; or the agent is out of service, with an error.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel import AccessRequest, Kernel
from orgkernel.errors import OrgkernelError
from tests.support.trees import write_tree

_DEEP = "x: " + "[" * 3_000 + "]" * 3_000 + "\n"


def read(folder: Path, path: str, text: str, *tools: str) -> tuple[str, list[str]]:
    """The outcomes for the tools (`a`, `d`, or `?` for asking), or `-` if no agent is read; and the codes of findings that matter."""
    file = write_tree(folder, {"x": ""}) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    try:
        kernel = Kernel.open(folder)
    except OrgkernelError as error:
        return "-", [str(error)]
    diagnostics = [each for each in kernel.check() if not each.code.startswith("ORG7")]
    codes = sorted({each.code for each in diagnostics})
    served = [*kernel.state.served]
    posts = kernel.organization(served[0]).snapshot.records.posts if served else {}
    if not posts:
        return "-", codes
    (role,) = posts
    outcomes = [
        kernel.can(served[0], AccessRequest(f"role:{role}", "use", f"tool:{each}")).outcome for each in tools
    ]
    return "".join("?" if each == "ask" else each[0] for each in outcomes), codes


def cursor(fields: str = "readonly: true\n", about: str = "description: Reads. Use when x.\n") -> str:
    return f"---\nname: a\n{about}{fields}---\nWork.\n"


# The text, the outcome for `edit`, and the codes. `d` is denied, as the field asks for.
CURSOR: dict[str, tuple[str, str, list[str]]] = {
    "plain": (cursor(), "d", []),
    "upper_case": (cursor("readonly: TRUE\n"), "d", []),
    "yes": (cursor("readonly: yes\n"), "a", ["ORG032"]),
    "on": (cursor("readonly: on\n"), "a", ["ORG032"]),
    "in_quotes": (cursor('readonly: "true"\n'), "a", ["ORG032"]),
    "number": (cursor("readonly: 1\n"), "-", ["ORG103"]),
    "null": (cursor("readonly:\n"), "-", ["ORG103"]),
    "block": (cursor("readonly: |\n  true\n"), "-", ["ORG103"]),
    "list": (cursor("readonly: [true]\n"), "-", ["ORG103"]),
    "twice": (cursor("readonly: true\nreadonly: false\n"), "-", ["ORG006"]),
    "other_case": (cursor("Readonly: true\n"), "a", ["ORG102"]),
    "alias": (cursor("x: &t true\nreadonly: *t\n"), "d", []),
    "merge_key": (cursor("x: &t {readonly: true}\n<<: *t\n"), "a", ["ORG032"]),
    "escaped_key": (cursor('"read\\u006fnly": true\n'), "a", ["ORG032"]),
    "explicit_key": (cursor("? readonly\n: true\n"), "a", ["ORG032"]),
    "quoted_key": (cursor('"readonly": true\n'), "d", []),
    "tag": (cursor("readonly: !!bool yes\n"), "-", ["ORG007"]),
    "dashes_in_a_value": (cursor(about="description: Reads --- only.\n"), "d", []),
    "dashes_at_a_line": (cursor(about="description: Reads.\n---x\n"), "-", ["ORG005"]),
    "colon_in_a_value": (cursor(about="description: Reads: x\n"), "a", ["ORG025", "ORG032"]),
    "unclosed_quote": (cursor(about='description: "Reads\n'), "a", ["ORG025", "ORG032"]),
    "tab": (cursor("\tx: 1\nreadonly: true\n"), "a", ["ORG025", "ORG032"]),
    "tab_before_the_value": (cursor("readonly:\ttrue\n"), "d", []),
    "bom": ("\ufeff" + cursor(), "d", []),
    "crlf": (cursor().replace("\n", "\r\n"), "d", []),
    "nul": (cursor("x: \0\nreadonly: true\n"), "-", ["ORG015"]),
    "line_separator": (cursor("readonly: true\u2028x: 1\n"), "-", ["ORG015"]),
    "next_line": (cursor("readonly: true\u0085x: 1\n"), "-", ["ORG015"]),
    "deep": (cursor(_DEEP + "readonly: true\n"), "-", ["ORG012"]),
    "not_closed": (cursor().replace("---\nWork", "Work"), "-", ["ORG024"]),
    "comment": (cursor("# readonly: true\n"), "a", []),
}  # fmt: skip


@pytest.mark.parametrize("name", CURSOR)
def test_an_agent_of_cursor_is_read_only_if_every_reader_says_so(tmp_path: Path, name: str) -> None:
    """YAML 1.1 and 1.2, with merge keys and without."""
    text, outcome, codes = CURSOR[name]
    assert read(tmp_path, ".cursor/agents/a.md", text, "edit") == (outcome, codes)


_HEAD = 'schema_version: "1.0"\nmetadata:\n  id: a\n  name: a\n  version: 1.0.0\n  description: Reads. Use when x.\naction_space:\n'
_TOOL = "  local_tools:\n    - alias: search\n      description: D\n"


def agent_format(space: str = _TOOL, more: str = "") -> str:
    return _HEAD + space + more


# The text, the outcomes for `search` and for the server `m`, and the codes.
AGENT_FORMAT: dict[str, tuple[str, str, list[str]]] = {
    "plain": (agent_format(), "ad", []),
    "approval": (agent_format(_TOOL + "      approval: true\n"), "?d", []),
    "approval_as_text": (agent_format(_TOOL + "      approval: always\n"), "?d", []),
    "approval_off": (agent_format(_TOOL + "      approval: off\n"), "ad", []),
    "approval_in_quotes": (agent_format(_TOOL + '      approval: "false"\n'), "ad", []),
    "approval_null": (agent_format(_TOOL + "      approval:\n"), "ad", []),
    "approval_twice": (agent_format(_TOOL + "      approval: true\n      approval: false\n"), "-", ["ORG006"]),
    "space_twice": (agent_format(_TOOL, "action_space: {}\n"), "-", ["ORG006"]),
    "merge_key": ("x: &x {alias: search}\n" + agent_format("  local_tools:\n    - <<: *x\n"), "ad", []),
    "alias_of_a_list": ("x: &x [{alias: search}]\n" + agent_format("  local_tools: *x\n"), "ad", []),
    "tag": (agent_format(_TOOL + "      approval: !!str false\n"), "-", ["ORG007"]),
    "dashes_in_a_value": (agent_format().replace("Reads.", "Reads --- x."), "ad", []),
    "dashes_in_a_block": (agent_format().replace("Reads. Use when x.", "|\n    x\n    ---"), "ad", []),
    "bom": ("\ufeff" + agent_format(), "ad", []),
    "crlf": (agent_format().replace("\n", "\r\n"), "ad", []),
    "nul": (agent_format(more='x: "\0"\n'), "-", ["ORG015"]),
    "tab": (agent_format(more="\tx: 1\n"), "-", ["ORG005"]),
    "line_separator": (agent_format(_TOOL.replace("search", "sea\u2028rch")), "-", ["ORG015"]),
    "number_as_an_alias": (agent_format(_TOOL.replace("search", "1")), "-", ["ORG101"]),
    "boolean_as_an_alias": (agent_format(_TOOL.replace("search", "yes")), "-", ["ORG101"]),
    "no_alias": (agent_format("  local_tools:\n    - description: D\n"), "-", ["ORG101"]),
    "number_as_an_id": (agent_format().replace("id: a", "id: 1"), "-", ["ORG103"]),
    "text_in_the_list": (agent_format("  local_tools: [search]\n"), "-", ["ORG103"]),
    "mapping_as_a_list": (agent_format("  local_tools: {alias: search}\n"), "-", ["ORG101"]),
    "null_as_a_list": (agent_format("  local_tools:\n"), "-", ["ORG101"]),
    "folded_alias": (agent_format("  local_tools:\n    - alias: >-\n        search\n"), "ad", []),
    "escaped_key": (agent_format('  {"local_tools": [{"ali\\u0061s": "search"}]}\n'), "ad", []),
    "no_tools_of_a_server": (agent_format("  mcp_servers:\n    - alias: m\n      allowed_tools: []\n"), "dd", []),
    "null_tools_of_a_server": (agent_format("  mcp_servers:\n    - alias: m\n      allowed_tools:\n"), "da", []),
    "text_as_tools_of_a_server": (agent_format("  mcp_servers:\n    - alias: m\n      allowed_tools: look\n"), "da", []),
    "two_documents": (agent_format(more="---\n" + agent_format()), "-", ["ORG017"]),
    "deep": (agent_format(more=_DEEP), "-", ["ORG012"]),
}  # fmt: skip


@pytest.mark.parametrize("name", AGENT_FORMAT)
def test_an_agent_of_the_agent_format_has_what_every_reader_gives(tmp_path: Path, name: str) -> None:
    """A value that is not of its type is an error, because the schema of the format refuses it."""
    text, outcomes, codes = AGENT_FORMAT[name]
    assert read(tmp_path, "a.agf.yaml", text, "search", "mcp__m") == (outcomes, codes)


POLICY = '{{"mode": "custom", "default": {0}, "mcp_default": "block", "allowed": {1}, "blocked": []}}'
# The policy of a profile, the outcomes for `memory_load` and `code_execution_tool`, and the codes.
AGENT_ZERO: dict[str, tuple[str, str, list[str]]] = {
    "plain": (POLICY.format('"block"', '["local:memory_load"]'), "ad", []),
    "escaped_text": (POLICY.format('"block"', '["local:memory\\u005fload"]'), "ad", []),
    "key_twice": (POLICY.format('"block", "default": "allow"', "[]"), "-", ["ORG006"]),
    "text_as_a_list": (POLICY.format('"block"', '"local:memory_load"'), "-", ["ORG103"]),
    "number_in_a_list": (POLICY.format('"block"', "[1]"), "-", ["ORG103"]),
    "other_case": (POLICY.format('"Allow"', "[]"), "-", ["ORG104"]),
    "boolean": (POLICY.format("true", "[]"), "-", ["ORG104"]),
    "comment": ("// c\n" + POLICY.format('"allow"', "[]"), "-", ["ORG014"]),
    "nul": (POLICY.format('"allow\0"', "[]"), "-", ["ORG014"]),
    "two_documents": (POLICY.format('"allow"', "[]") * 2, "-", ["ORG014"]),
    "bom": ("\ufeff" + POLICY.format('"block"', '["local:memory_load"]'), "ad", []),
    "crlf": (POLICY.format('"block"', '["local:memory_load"]').replace(" ", "\r\n"), "ad", []),
    "deep": ('{"x": ' + "[" * 3_000 + "]" * 3_000 + "}", "-", ["ORG012"]),
    "not_a_mapping": ("[]", "-", ["ORG017"]),
}  # fmt: skip


@pytest.mark.parametrize("name", AGENT_ZERO)
def test_a_policy_of_agent_zero_that_cannot_be_read_gives_nothing(tmp_path: Path, name: str) -> None:
    """Its host would not start the profile, or read another value; an error stands at the policy."""
    text, outcomes, codes = AGENT_ZERO[name]
    write_tree(tmp_path, {"agents/lead/agent.yaml": "title: Lead\ndescription: Plans. Use when x.\n"})
    path = "agents/lead/plugins/_tool_access/config.json"
    assert read(tmp_path, path, text, "memory_load", "code_execution_tool") == (outcomes, codes)
