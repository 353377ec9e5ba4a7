"""Files of MCP alone: their servers and tools are an organization without roles, which nothing of theirs can open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orgkernel import AccessContext, AccessRequest, Kernel
from tests.support.in_process import run_here
from tests.support.other_trees import lay_out
from tests.support.trees import write_tree

LISTED = {
    "tools": [
        {"name": "look", "title": "Look", "description": "Looks.", "inputSchema": {"type": "object", "required": ["at"]},
         "annotations": {"readOnlyHint": True}},
        {"name": "drop/all", "inputSchema": {"type": "object"}},
    ]
}  # fmt: skip


def test_servers_alone(tmp_path: Path) -> None:
    """A well-kept folder has no finding, and one server in two files is one server."""
    done = run_here("check", "shop", cwd=lay_out(tmp_path / "shop", "mcp").parent)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "note: read as MCP: 2 servers; `--from` chooses another format\n"
        "no findings in 1 organization, 0 roles, 2 files\n"
    )


@pytest.mark.parametrize("place", ["mcp.json", ".vscode/mcp.json"])
def test_comments_are_read_over(tmp_path: Path, place: str) -> None:
    """Editors let people write them."""
    write_tree(
        tmp_path, {place: '{\n  // ours\n  "servers": {"shop": {"url": "https://example.com/mcp"},},\n}\n'}
    )
    assert "read as MCP: 1 server" in run_here("check", cwd=tmp_path).stderr


@pytest.mark.parametrize("shape", [LISTED, {"jsonrpc": "2.0", "id": 1, "result": LISTED}, LISTED["tools"]])
def test_a_saved_answer(shape: object, tmp_path: Path) -> None:
    """In each shape in which people save it; its server is called as the file."""
    write_tree(tmp_path, {"yard.json": json.dumps(shape)})
    snapshot = Kernel.open(tmp_path / "yard.json").organization("active").snapshot
    assert snapshot.records.org_id == "yard"
    tools = {tool_id: tool.record for tool_id, tool in snapshot.records.tools.items()}
    assert list(tools) == ["mcp__yard", "mcp__yard__look", "mcp__yard__drop_all"]
    look = tools["mcp__yard__look"]
    assert (look.name, look.description, look.provider) == ("Look", "Looks.", "yard")
    assert look.input_schema == {"type": "object", "required": ["at"]}
    assert {tool.side_effects for tool in tools.values()} == {"destructive"}
    place = snapshot.records.tools["mcp__yard__look"].place()
    assert place.file == "yard.json" or place.file.endswith("/yard.json")


def test_what_a_server_says_of_itself_opens_nothing(tmp_path: Path) -> None:
    """A hint is a proposal: it is shown, and the tool counts as destructive."""
    write_tree(tmp_path, {"yard.json": json.dumps(LISTED)})
    done = run_here("check", "yard.json", "--format", "concise", cwd=tmp_path)
    assert "info[ORG780]" in done.stdout
    assert "read (`mcp__yard__look`)" in done.stdout
    graph = run_here("graph", "--path", "yard.json", cwd=tmp_path)
    assert graph.stdout == "yard (yard), 0 roles\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package.json", '{"name": "x", "version": "1.0.0"}'),
        ("mcp.json", '{"editor": true}'),
        (".vscode/settings.json", '{"servers": {"a": {}}}'),
        ("tools.json", '{"tools": ["a"]}'),
    ],
)
def test_other_files_are_not_claimed(name: str, text: str, tmp_path: Path) -> None:
    """A folder is one of servers only if a file of that name declares some."""
    write_tree(tmp_path, {name: text})
    done = run_here("check", cwd=tmp_path)
    assert done.returncode == 2
    assert "nothing to check" in done.stderr
    assert "read as" not in run_here("check", name, cwd=tmp_path).stderr or name == ".vscode/settings.json"


def test_a_file_that_says_neither(tmp_path: Path) -> None:
    """Chosen explicitly, it is an error."""
    write_tree(tmp_path, {"x.json": '{"a": 1}'})
    done = run_here("check", "x.json", "--from", "mcp", "--format", "concise", cwd=tmp_path)
    assert done.returncode == 1
    assert "declares no MCP servers and lists no tools" in done.stdout


def test_hostile_names_and_texts_are_data(tmp_path: Path) -> None:
    """They reach no terminal as they are, and become no other tool's name."""
    tools = [
        {"name": "\x1b[31mred\x1b]0;title\x07", "description": "\x1b[2J`x` {{y}} <script>", "annotations": {"readOnlyHint": True}},
        {"name": "../../etc", "inputSchema": {"$ref": "https://evil.example/schema.json"}},
        {"name": "look__x", "inputSchema": {"type": "object", "pattern": "^a"}},
    ]  # fmt: skip
    write_tree(tmp_path, {"yard.json": json.dumps({"servers": {"a\x1b[1m": {"tools": tools}}})})
    for words in (
        ["check", "yard.json"],
        ["graph", "--path", "yard.json"],
        ["check", "yard.json", "--format", "json"],
    ):
        done = run_here(*words, cwd=tmp_path)
        assert "\x1b" not in done.stdout + done.stderr
    names = list(Kernel.open(tmp_path / "yard.json").organization("active").snapshot.records.tools)
    assert all(name.startswith("mcp__a__1m") for name in names)


def test_a_schema_of_a_server_fetches_nothing(tmp_path: Path) -> None:
    """What it refers to elsewhere is not known, so that no input fits."""
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    org = "{_schema: 'orgkernel:organization', org_id: yard, hierarchy: {a: {}}}\n"
    role = "{_schema: 'orgkernel:role_profile', role_id: a, description: A., capabilities: {tools_primary: [t]}}\n"
    tools = {
        "_schema": "orgkernel:tool_catalog",
        "tools": {"t": {"type": "mcp_server", "input_schema": schema}},
    }
    write_tree(tmp_path, {"org.yaml": org, "a.yaml": role, "tools.json": json.dumps(tools)})
    kernel = Kernel.open(tmp_path)
    asked = AccessRequest("role:a", "use", "tool:t", AccessContext(input={"a": 1}))
    decision = kernel.can("active", asked)
    assert (decision.outcome, decision.code) == ("deny", "EVALUATION_ERROR")
