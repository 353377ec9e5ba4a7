"""Rules of Claude Code about files: they are about these files, and about nothing less than what the host may mean."""

from __future__ import annotations

import json
import os
import subprocess
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel import AccessContext, AccessRequest, Kernel
from orgkernel.exchange.agents.claude_code import export_claude_code
from orgkernel.loading.formats.claude_code.parts import EDITING, READING, parse_tool_part
from orgkernel.runtime.paths import is_inside, may_touch, read_path
from tests.support.claude_trees import AGENTS, agent
from tests.support.in_process import run_here
from tests.support.trees import write_tree

TOOLS = "Read, Grep, Glob, Edit, Write, Bash, WebFetch"


def project(folder: Path, **rules: list[str]) -> Path:
    """A project with one agent that has `TOOLS`, and some rules."""
    files = {
        ".claude/settings.json": json.dumps({"permissions": rules}),
        f"{AGENTS}/a.md": agent("a", "Use it.", TOOLS),
    }
    return write_tree(folder / "shop", files)


def outcome(kernel: Kernel, resource: str) -> str:
    return kernel.can("shop", AccessRequest("role:a", "use", f"tool:{resource}")).outcome


def test_the_settings_that_the_documentation_shows_first(tmp_path: Path) -> None:
    """The rules deny one file to every role, in every spelling and for every tool that reads or edits, and leave all others."""
    kernel = Kernel.open(project(tmp_path, deny=["Read(./.env)"]))
    for tool in ("Read", "Grep", "Glob", "Edit", "Write"):
        assert outcome(kernel, f"{tool}:src/a.py") == "allow", tool
        for path in (
            "",
            ":.env",
            ":sub/../.env",
            ":sub/.ENV",
            ":.env/x",
            ":.",
            ":*",
            ":~/x",
            ":$HOME",
            ":../x",
            ":/etc/x",
        ):
            assert outcome(kernel, f"{tool}{path}") == "deny", (tool, path)
    assert [outcome(kernel, tool) for tool in ("Bash", "WebFetch")] == ["allow", "allow"]
    assert [each.code for each in kernel.check()] == []


def test_a_denial_names_the_rule_and_the_path_that_would_do(tmp_path: Path) -> None:
    """The reason is at the line of the settings, and the remedy is to state another path."""
    project(tmp_path, deny=["Read(./.env)"], ask=["Edit(/docs/**)"])
    done = run_here("can", "role:a", "use", "tool:Read", "--path", "shop", cwd=tmp_path)
    assert done.returncode == 1
    assert (
        "because policy `settings_deny_1` denies tool `Read` in `**/.env`, and the request states no path"
        in done.stdout
    )
    assert "shop/.claude/settings.json:1" in done.stdout
    assert "would be allowed by: state a path outside of `**/.env`" in done.stdout
    done = run_here("can", "role:a", "use", "tool:Edit:docs/a.md", "--path", "shop", cwd=tmp_path)
    assert done.stdout.startswith("ask: role:a use tool:Edit:docs/a.md")
    assert "in `docs/**`, `.claude/docs/**`, and `docs/a.md` matches" in done.stdout
    listed = run_here("what-can", "role:a", "--path", "shop", cwd=tmp_path).stdout
    assert "PART_NOT_STATED, depends on path:**/.env" in listed


@pytest.mark.parametrize(
    ("rule", "tools", "paths"),
    [
        ("Read(./.env)", (*READING, *EDITING), ("**/.env",)),
        ("Read(.env.*)", (*READING, *EDITING), ("**/.env.*",)),
        ("Read(secrets/)", (*READING, *EDITING), ("**/secrets",)),
        ("Read(./secrets/**)", (*READING, *EDITING), ("**/secrets/**",)),
        ("Read(**/*.pem)", (*READING, *EDITING), ("**/*.pem",)),
        ("Edit(/src/**/*.ts)", EDITING, ("src/**/*.ts", ".claude/src/**/*.ts")),
        ("Edit(/**/x)", EDITING, ("**/x",)),
        ("Write(docs/**)", EDITING, ("**/docs/**",)),
        ("MultiEdit(a/b)", EDITING, ("**/a/b",)),
        ("NotebookEdit(a?.ipynb)", EDITING, ("**/a?.ipynb",)),
        ("Read(~/.ssh/**)", (*READING, *EDITING), ("~/.ssh/**",)),
        ("Edit(~/.bashrc)", EDITING, ("~/.bashrc",)),
        ("Read(//etc/**)", (*READING, *EDITING), ("//etc/**",)),
        ("Grep(//**/.env)", (*READING, *EDITING), ("//**/.env",)),
    ],
)  # fmt: skip
def test_rules_that_are_understood(rule: str, tools: tuple[str, ...], paths: tuple[str, ...]) -> None:
    """Each is about the tools that Claude Code may mean, and about the paths that it may mean."""
    assert parse_tool_part(rule) == (tools, paths, (), False, {})


@pytest.mark.parametrize(
    "argument",
    [
        "", " ", "*", "**", "./", "/", "./**", "**/*", "?", "~", "~/", "~/**", "//", "//**", "~a/x", "..", "../x", "a/../b", "./../x",
        "a/./b", "a//b", "...", "!a", "#a", "[ab]", "a[!b]", "{a,b}", "a\\*", "a b", " a", "a ", "$HOME/x", "`x`", "%41", "C:/x", "C:\\x",
        "a**", "a/**b", "file:x", "a\nb", "é", "a)b", "domain:example.com",
    ],
)  # fmt: skip
def test_rules_that_are_not_understood_close_the_whole_tool(argument: str, tmp_path: Path) -> None:
    """As before, and a finding says so."""
    for tool in ("Read", "Edit"):
        assert parse_tool_part(f"{tool}({argument})") is None
    top = project(tmp_path, deny=[f"Read({argument})"], ask=[f"Edit({argument})"])
    kernel = Kernel.open(top)
    assert [outcome(kernel, each) for each in ("Read", "Read:a", "Edit", "Edit:a")] == [
        "deny",
        "deny",
        "ask",
        "ask",
    ]
    codes = [each.code for each in kernel.check()]
    assert [each for each in codes if each != "ORG032"] == ["ORG781", "ORG781"]
    assert ("ORG032" in codes) is argument.startswith("C:")


@pytest.mark.parametrize(
    "rule", ["PowerShell(rm:*)", "WebFetch(domain:*.example)", "WebFetch(path:/a)", "read(./.env)", "Read(./.env) x"]
)  # fmt: skip
def test_parts_of_other_tools_are_not_told_apart(rule: str) -> None:
    """What they are about is about the whole tool."""
    assert parse_tool_part(rule) is None


def test_a_rule_about_a_host_is_about_the_pages_of_this_host(tmp_path: Path) -> None:
    """Other hosts stay open, a URL that cannot be compared is closed, and without a URL the answer depends on it."""
    kernel = Kernel.open(
        project(tmp_path, deny=["WebFetch(domain:evil.com)"], ask=["WebFetch(domain:docs.example.com)"])
    )

    def decide(url: str | None) -> str:
        context = AccessContext() if url is None else AccessContext(input={"url": url, "prompt": "read it"})
        return kernel.can("shop", AccessRequest("role:a", "use", "tool:WebFetch", context)).outcome

    urls = ["https://evil.com/a", "https://EVIL.com", "https://docs.example.com/", "https://a@b/", None]
    assert [decide(url) for url in urls] == ["deny", "deny", "ask", "deny", "deny"]
    assert [decide(url) for url in ("https://good.org/", "https://evil.com.good.org/")] == ["allow", "allow"]
    assert "ORG781" not in [each.code for each in kernel.check()]


def test_a_whole_tool_stays_closed_beside_its_part(tmp_path: Path) -> None:
    """A rule about a part opens nothing that another rule closes."""
    kernel = Kernel.open(project(tmp_path, deny=["Read", "Read(./.env)"], ask=["Edit(a)", "Edit"]))
    assert [outcome(kernel, each) for each in ("Read:b", "Edit:b")] == ["deny", "ask"]


PATHS = (
    "", ":a", ":.env", ":sub/.env", ":docs/a", ":docs", ":web/docs/a", ":.claude/docs/a", ":~/x", ":/etc/x", ":../x",
)  # fmt: skip


@pytest.mark.parametrize("rules", [{"deny": ["Read(./.env)"]}, {"deny": ["Edit(**/*.md)", "Read(~/x)"], "ask": ["Edit(/docs/**)", "Bash(rm:*)"]}])  # fmt: skip
def test_what_is_imported_and_exported_says_no_more_than_the_rules(
    rules: dict[str, list[str]], tmp_path: Path
) -> None:
    """Plain documents answer as the settings where they lie; files that are exported from either close at least as much."""
    project(tmp_path, **rules)
    assert run_here("import", "claude-code", "shop", "plain", cwd=tmp_path).returncode == 0
    (tmp_path / "again").mkdir()
    done = run_here(
        "export",
        "--to",
        "claude-code",
        "--path",
        "shop",
        "--output",
        "again/shop",
        "--accept-losses",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "policies about files" in done.stderr
    here, plain, again = (Kernel.open(tmp_path / each) for each in ("shop", "plain", "again/shop"))
    order = ("deny", "ask", "conditional", "allow")
    for tool in TOOLS.split(", "):
        for path in PATHS:
            answers = [outcome(kernel, f"{tool}{path}") for kernel in (here, plain, again)]
            assert answers[0] == answers[1], (tool, path, answers)
            assert order.index(answers[2]) <= order.index(answers[0]), (tool, path, answers)
    assert outcome(again, "Edit:a") == outcome(here, "Edit:a") == "allow"
    assert outcome(again, "Edit:src/a.py") == outcome(here, "Edit:src/a.py") == "allow"


def test_a_policy_of_ours_about_files_is_a_rule_where_it_can_be_said(tmp_path: Path) -> None:
    """The policy applies to all roles, and to the tools and paths that the rule covers; otherwise the tools are withheld
    as before.
    """
    document = {
        "org.json": {"_schema": "orgkernel:organization", "org_id": "shop", "hierarchy": {"a": {}}},
        "tools.json": {"_schema": "orgkernel:tool_catalog", "tools": {
            "reader": {"type": "deterministic_function", "side_effects": "read", "path_arguments": ["p"], "names": {"claude_code": "Read"}},
            "finder": {"type": "deterministic_function", "side_effects": "read", "path_arguments": ["p"], "names": {"claude_code": "Glob"}},
            "editor": {"type": "deterministic_function", "side_effects": "write", "path_arguments": ["p"], "names": {"claude_code": "Edit"}},
            "web": {"type": "browser", "side_effects": "read", "names": {"claude_code": "WebFetch"}},
        }},
        "role.json": {"_schema": "orgkernel:role_profile", "role_id": "a", "description": "Use it.", "capabilities": {"tools_primary": ["reader", "finder", "editor", "web"]}},
    }  # fmt: skip
    tools = ["reader", "finder"]
    for policy, said in {
        json.dumps({"effect": "deny", "permissions": {"tools": tools, "paths": ["**/.env"]}}): {"deny": ["Read(/**/.env)", "Read(**/.env)"]},
        json.dumps({"effect": "ask", "permissions": {"tools": ["editor"], "paths": ["docs/**"]}}): {"ask": ["Edit(/docs/**)", "Edit(docs/**)"]},
        json.dumps({"effect": "deny", "permissions": {"tools": [*tools, "web"], "paths": ["x"]}}): {},
        json.dumps({"effect": "deny", "permissions": {"tools": tools, "paths": ["/etc/**"]}}): {},
        json.dumps({"effect": "deny", "permissions": {"tools": tools, "paths": ["x", "$HOME/x"]}}): {},
        json.dumps({"effect": "deny", "match": {"principal": {"role": "a"}}, "permissions": {"tools": tools, "paths": ["x"]}}): {},
    }.items():  # fmt: skip
        policies = {"_schema": "orgkernel:access_policies", "policies": {"one": json.loads(policy)}}
        files = {name: json.dumps(each) for name, each in {**document, "policies.json": policies}.items()}
        view = (
            Kernel.open(write_tree(tmp_path / str(abs(hash(policy))), files))
            .organization("shop")
            .snapshot.index
        )
        exported = export_claude_code(view)
        settings = json.loads(exported.files.get(".claude/settings.json", "{}"))
        assert settings.get("permissions", {}) == said, policy
        given = exported.files[".claude/agents/a.md"].split("---")[1]
        assert ("- Read" in given) is (bool(said) or "reader" not in policy), (policy, given)
        assert "- WebFetch" in given or '"web"' in policy


PATTERNS = (
    "secret",
    "./secret",
    "/secret",
    "a/secret",
    "/a/*",
    "*.key",
    "**/k?y",
    "a/**",
    "a/**/b",
    "**/a/b",
    "secret/",
    "/a/b/",
    ".x.*",
)
NAMES = ("a", "b", "secret", "key", "x.key", "kay", ".x.y", "A")


def test_whatever_git_ignores_by_a_pattern_is_in_the_part(tmp_path: Path) -> None:
    """Patterns are those of gitignore, which git itself reads here, in every folder in which Claude Code may run."""
    paths = ["/".join(names) for count in (1, 2, 3) for names in product(NAMES, repeat=count)]
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    for folder, pattern in product(("", "a", "a/b"), PATTERNS):
        if folder and pattern.startswith("/"):
            continue  # relative to the settings, which do not move
        part = parse_tool_part(f"Read({pattern})")
        assert part is not None, pattern
        below = tmp_path / folder
        below.mkdir(parents=True, exist_ok=True)
        # Git knows no `./`: there, a slash within or in front binds a pattern to its folder.
        (below / ".gitignore").write_text(
            pattern.removeprefix(".") + "\n" if pattern[1:2] == "/" else f"{pattern}\n"
        )
        done = subprocess.run(
            ["git", "check-ignore", "--no-index", "--stdin"], cwd=tmp_path, text=True, capture_output=True, check=False,
            input="".join(f"{path}\n" for path in paths),
        )  # fmt: skip
        (below / ".gitignore").unlink()
        ignored = done.stdout.splitlines()
        assert ignored or folder, (pattern, done.stderr)
        for path in ignored:
            assert any(may_touch(path, glob) for glob in part.paths), (folder, pattern, path)
            assert any(may_touch(path.swapcase(), glob) for glob in part.paths), (folder, pattern, path)


_TEXT = st.text(alphabet="aB.*?/~!-[]{} \\$é", max_size=12)


@settings(max_examples=300, deadline=None)
@given(_TEXT)
def test_what_is_understood_can_be_compared(pattern: str) -> None:
    """No pattern becomes a glob that nothing is in, or that cannot be compared with any path."""
    part = parse_tool_part(f"Edit({pattern})")
    for glob in () if part is None else part.paths:
        if glob.startswith(("~/", "//")):
            continue  # these cannot be granted, and are never outside of a rule that cannot be compared
        assert read_path(glob) is not None
        example = os.path.normpath(glob.replace("**", "x").replace("*", "x").replace("?", "x"))
        assert is_inside(example, glob), (pattern, glob)


def test_a_rule_for_all_servers(tmp_path: Path) -> None:
    """`mcp__*` under `deny` takes every tool of every server, and no other tool."""
    top = project(tmp_path, deny=["mcp__*"])
    agent = "---\nname: a\ndescription: Use it.\ntools: Read, mcp__db__query\n---\nDo it.\n"
    write_tree(top, {".claude/agents/a.md": agent, ".mcp.json": '{"mcpServers": {"db": {"command": "d"}}}'})
    kernel = Kernel.open(top)
    assert [outcome(kernel, each) for each in ("Read", "mcp__db__query", "mcp__db")] == [
        "allow",
        "deny",
        "deny",
    ]
    assert [each.code for each in kernel.check()] == []
