"""Laws of the hook of Claude Code: what it answers is what the kernel answers, for every role, tool and path there is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from orgkernel.cli.ask.access import render_decision
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.evidence.state_view import EMPTY_STATE
from orgkernel.decisions.handoff.decide import decide_handoff_permission
from orgkernel.decisions.handoff.permission import HandoffQuestion
from orgkernel.exchange.claude_code.compiling import compile_hook
from orgkernel.exchange.claude_code.host_names import (
    find_action,
    group_tools_by_host_name,
    list_command_arguments,
)
from orgkernel.exchange.claude_code.protection import build_secret_reads
from orgkernel.graph.assemble import assemble
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.access import OrganizationAccess
from orgkernel.kernel.kernel import Kernel
from orgkernel.project.hooks.claude_hook.activated import ActiveOrganization
from orgkernel.project.hooks.claude_hook.deciding import HANDOFF_TOOLS, PATH_ARGUMENTS, decide_call
from orgkernel.project.hooks.engine import json_reader
from orgkernel.project.hooks.engine.glob_matcher import match_plain
from orgkernel.runtime.commands import read_words
from orgkernel.runtime.paths import is_inside
from orgkernel.shell.running import read_run
from tests.reference.organizations import build_tree, build_views, trees
from tests.support.trees import write_tree

KERNEL = Kernel.open()
TEMPLATES = tuple(KERNEL.state.served)
NOON = 1_763_899_200.0
PROJECT = "/srv/project"
SETTINGS = {
    "enforcement": "enforce", "on_error": "refuse", "unlisted_tools": "refuse", "unnamed_agents": "refuse",
    "main_role": "none",
}  # fmt: skip
PATHS = ("src/a.py", "docs/guide.md", "../elsewhere", "/etc/passwd", ".env", "src/../docs/x.md")
_SEVERITY = ("deny", "ask", "allow")


class InMemory(ActiveOrganization):
    """An activation that was never written."""

    files: dict[str, Any]

    def read_answers(self, role: str) -> dict[str, Any]:
        found: dict[str, Any] = self.files[self.data["roles"][role]]
        return found


def activated(view: OrgView, project: Path | None = None) -> InMemory:
    """What the hook reads: compiled, and written as JSON."""
    desk = OrganizationAccess(view, EMPTY_STATE, lambda: (NOON, 0))
    compiled = compile_hook(
        desk, render_decision, "orgkernel test", None if project is None else str(project)
    )
    active = InMemory(
        PROJECT,
        json.loads(
            json.dumps({**compiled.data, "settings": SETTINGS, "secret_reads": build_secret_reads(view, {})})
        ),
    )
    active.files = {name: json.loads(content) for name, content in compiled.files.items()}
    return active


def answer(active: ActiveOrganization, role: str, tool: str, given: dict[str, Any]) -> str:
    call = {"agent_id": "a1", "agent_type": role, "tool_name": tool, "tool_input": given, "cwd": PROJECT}
    outcome, text = decide_call(active, call)
    assert (outcome == "allow") == (not text), (outcome, text)
    return outcome


def expected(view: OrgView, request: AccessRequest) -> str:
    """What the kernel answers; a person is asked about what an unknown circumstance could change."""
    outcome = decide_access(view, request).outcome
    if outcome == "conditional":
        return "ask"
    rows = what_can(view, request.subject, request=request)
    return "ask" if outcome == "allow" and any(row.conditions for row in rows) else outcome


def assert_hook_equals_kernel(view: OrgView) -> None:
    active, now = activated(view), AccessContext(now=NOON)
    for role in view.roles:
        for name, tools in group_tools_by_host_name(view).items():
            if name in HANDOFF_TOOLS:
                continue
            asked = {each: find_action(name, view.records.tools[each].record) for each in tools}
            kernel = [
                expected(view, AccessRequest(f"role:{role}", action, f"tool:{tool}", now))
                for tool, action in asked.items()
            ]
            assert answer(active, role, name, {}) == min(kernel, key=_SEVERITY.index), (role, name)
            for argument in PATH_ARGUMENTS.get(name, ())[:1]:
                for path in PATHS:
                    at = [
                        decide_access(
                            view, AccessRequest(f"role:{role}", action, f"tool:{tool}:{path}", now)
                        ).outcome
                        for tool, action in asked.items()
                    ]
                    found = answer(active, role, name, {argument: path})
                    strictest = min(at, key=("deny", "conditional", "ask", "allow").index)
                    # The hook never opens more, and opens as much where only the scope of the role counts.
                    assert found != "allow" or strictest == "allow", (role, name, path)
                    if len(tools) == 1 and strictest == "allow" and found != "allow":
                        assert answer(active, role, name, {}) == "ask", (role, name, path)
            for command in _COMMANDS:
                given = {
                    each: command
                    for tool in tools
                    for each in list_command_arguments(name, view.records.tools[tool].record)
                }
                stated = replace(now, input={"command": command})
                at = [
                    decide_access(view, AccessRequest(f"role:{role}", action, f"tool:{tool}", stated)).outcome
                    for tool, action in asked.items()
                ]
                strictest = min(at, key=("deny", "conditional", "ask", "allow").index)
                found = answer(active, role, name, given)
                assert found != "allow" or strictest == "allow", (role, name, command)
        for other in view.roles:
            question = HandoffQuestion(sender=f"role:{role}", receiver=f"role:{other}", context=now)
            outcome = decide_handoff_permission(view, question).outcome
            found = answer(active, role, "Task", {"subagent_type": other})
            assert found == {"cannot_tell": "ask"}.get(outcome, outcome), (role, other)
            assert found == answer(active, role, "Agent", {"subagent_type": other})


@pytest.mark.parametrize("org", TEMPLATES)
def test_hook_equals_kernel_for_templates(org: str) -> None:
    """Every tool of the host, and every hand-off, is what the kernel decides."""
    assert_hook_equals_kernel(KERNEL.organization(org).snapshot.index)


def test_strict_delegation_never_opens_more() -> None:
    """If no role has more tools than its superiors, a role may use its tools for every sender."""
    view = KERNEL.organization("software_dev").snapshot.index
    organization = view.records.organization
    strict = replace(organization, limits=replace(organization.limits, delegation="strict"))
    narrowed = build_views(replace(view.records, organization=strict))[0]
    active, narrow = activated(view), activated(narrowed)
    calls = [
        (role, tool)
        for role in view.roles
        for tool in group_tools_by_host_name(view)
        if tool not in HANDOFF_TOOLS
    ]
    open_ones = {each for each in calls if answer(active, *each, {}) == "allow"}
    left = {each for each in calls if answer(narrow, *each, {}) == "allow"}
    assert left < open_ones
    for role, tool in left:
        for above in view.list_chain_above(role):
            if above.target in view.roles:
                request = AccessRequest(
                    f"role:{role}", find_action(tool, view.records.tools[group_tools_by_host_name(view)[tool][0]].record),
                    f"tool:{group_tools_by_host_name(view)[tool][0]}", AccessContext(now=NOON), via=(f"role:{above.target}",),
                )  # fmt: skip
                assert decide_access(narrowed, request).outcome == "allow"


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents=trees(("a",)))
def test_hook_equals_kernel_for_generated_organizations(documents: dict[str, dict[str, Any]]) -> None:
    """The same for organizations with everything in them that can go wrong."""
    for records in assemble(build_tree(documents)).organizations:
        assert_hook_equals_kernel(build_views(records)[0])


_RULES = (
    "Read(./.env)", "Read(secrets/**)", "Edit(/docs/**)", "Edit(src/*.py)", "Write(**/a.py)", "Read(/x)", "Edit(~/x)",
    "Grep(x)", "Edit", "Read(docs)",
)  # fmt: skip
_CALLED = (
    ".env", "sub/.env", "src/.ENV", "secrets/a", "secrets", "docs/a", "docs", ".claude/docs/a", "src/a.py", "src/b.py",
    "src/b/a.py", "x", "y", ".", "src", "src/../.env", "/etc/passwd", "~/x", "*.py", "src/*", "",
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(deny=st.sets(st.sampled_from(_RULES), max_size=3), ask=st.sets(st.sampled_from(_RULES), max_size=3))
def test_hook_equals_kernel_for_rules_about_files(
    deny: set[str], ask: set[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the settings of a project say of each path is what the hook answers; where a path may mean several parts, no more."""
    rules = {"deny": sorted(deny), "ask": sorted(ask)}
    folder = write_tree(
        tmp_path_factory.mktemp("rules"),
        {
            ".claude/settings.json": json.dumps({"permissions": rules}),
            ".claude/agents/a.md": "---\nname: a\ndescription: Use it.\ntools: Read, Grep, Edit, Write, NotebookEdit\n---\n",
        },
    )
    view = Kernel.open(folder).organization("active").snapshot.index
    active, now = activated(view), AccessContext(now=NOON)
    for tool in ("Read", "Grep", "Edit", "Write", "NotebookEdit"):
        for path in _CALLED:
            request = AccessRequest("role:a", "use", f"tool:{tool}:{path}", now)
            kernel = decide_access(view, request).outcome
            found = answer(active, "a", tool, {PATH_ARGUMENTS[tool][0]: path})
            assert _SEVERITY.index(found) <= _SEVERITY.index(kernel), (rules, tool, path)
            assert found == "allow" or kernel != "allow", (rules, tool, path)
        assert answer(active, "a", tool, {}) == expected(
            view, AccessRequest("role:a", "use", f"tool:{tool}", now)
        )
        calls = [{PATH_ARGUMENTS[tool][0]: path} for path in _CALLED]
        assert_a_person_is_asked_at_most(active, activated(view, folder), tool, [{}, *calls])


def assert_a_person_is_asked_at_most(
    active: ActiveOrganization, there: ActiveOrganization, tool: str, calls: Iterable[dict[str, Any]]
) -> None:
    """In the project whose settings have the rules, a person is asked instead of a refusal. Nothing else changes."""
    for call in calls:
        found = answer(active, "a", tool, call), answer(there, "a", tool, call)
        assert found[0] == found[1] or found == ("deny", "ask"), (tool, call)


_BEGINNINGS = (
    "rm:*",
    "git push *",
    "git push --force:*",
    "git:*",
    "npm test",
    "bash:*",
    "ls*",
    "./a.sh:*",
    "rm -rf /x:*",
)
_COMMANDS = (
    "ls", "ls -la src", "rm x", "rm -rf /x y", "cd a && rm x", "git status", "git push", "git push --force", "git -C a push", "sudo git push", "npm test",
    "npm run test", "bash a.sh", "./a.sh", "a.sh x", "ls $x", "echo `ls`", "r\\m x", "'rm' x", "r'm' x", "ls | xargs wc", "/bin/rm x", "", " ", "x" * 10_001,
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    deny=st.sets(st.sampled_from(_BEGINNINGS), max_size=3),
    ask=st.sets(st.sampled_from(_BEGINNINGS), max_size=3),
)
def test_hook_equals_kernel_for_rules_about_commands(
    deny: set[str], ask: set[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the settings of a project say of each command is what the hook answers. About a command that cannot be read, it asks the
    person in front of Claude Code where the kernel, which sees no person, denies.
    """
    rules = {
        "deny": [f"Bash({each})" for each in sorted(deny)],
        "ask": [f"Bash({each})" for each in sorted(ask)],
    }
    folder = write_tree(
        tmp_path_factory.mktemp("rules"),
        {
            ".claude/settings.json": json.dumps({"permissions": rules}),
            ".claude/agents/a.md": "---\nname: a\ndescription: Use it.\ntools: Bash\n---\n",
        },
    )
    view = Kernel.open(folder).organization("active").snapshot.index
    active = activated(view)
    calls: list[dict[str, Any]] = [{}, {"command": 3}, {"command": ["ls", "rm x"]}, {"text": "ls"}]
    for called in (*({"command": each} for each in _COMMANDS), *calls):
        request = AccessRequest("role:a", "use", "tool:Bash", AccessContext(now=NOON, input=called))
        found, kernel = answer(active, "a", "Bash", called), decide_access(view, request).outcome
        command = called.get("command")
        is_unread = command is not None and (
            not isinstance(command, str) or read_run(command).commands is None
        )
        assert found == kernel or (is_unread and (found, kernel) == ("ask", "deny")), (rules, called)
    there = activated(view, folder)
    assert_a_person_is_asked_at_most(active, there, "Bash", calls)
    for command in _COMMANDS:
        assert_a_person_is_asked_at_most(active, there, "Bash", [{"command": command}])
        if read_words(command) is not None:
            found = answer(active, "a", "Bash", {"command": command})
            assert found == answer(there, "a", "Bash", {"command": command}), (rules, command)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None)
@given(value=_JSON, indent=st.none() | st.just(2), ascii=st.booleans())
def test_json_is_read_as_by_the_package(value: object, indent: int | None, ascii: bool) -> None:
    """And a text is written so that it is read back."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    try:
        expected = json.loads(text.decode("utf-8"))
    except UnicodeDecodeError:
        with pytest.raises(ValueError, match="decode"):
            json_reader.parse(text)
        return
    assert json_reader.parse(text) == expected
    assert json_reader._parse_with_json(text.decode()) == expected
    assert json.loads(json_reader.quote(str(value))) == str(value)


@settings(max_examples=150, deadline=None)
@given(text=st.text('{}[]",:\\/eE+-.0123456789 \n\tnulltruefasNI\x00', max_size=12))
def test_what_is_no_json_is_none_here(text: str) -> None:
    """The same is refused, and so is an invalid number."""

    def read(parse: Any) -> object:
        try:
            return [parse(text)]
        except (ValueError, RecursionError):
            return None

    def refuse(name: str) -> None:
        raise ValueError(name)

    assert read(lambda each: json_reader.parse(each.encode())) == read(
        lambda each: json.loads(each, parse_constant=refuse)
    )


_NAMES = st.sampled_from(
    ["a", "b.py", ".x", "A", "*", "*.py", "a*", "**", "..", ".", "a.", "", "a?", "{a,b}", "ä", "[a]"]
)


@settings(max_examples=200, deadline=None)
@given(names=st.lists(_NAMES, min_size=1, max_size=4), parts=st.lists(_NAMES, min_size=1, max_size=4))
def test_what_fits_is_inside(names: list[str], parts: list[str]) -> None:
    """The quick comparison says what the whole one says, or nothing."""
    path, glob = "/".join(names), "/".join(parts)
    found = match_plain(path, glob)
    assert found in (None, is_inside(path, glob, PROJECT)), (path, glob)
    assert found in (None, is_inside(path, glob)), (path, glob)
