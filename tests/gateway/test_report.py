"""`orgkernel gateway report`: what it says about real rows, and what its diff does."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.gateway.caller import LocalCaller
from orgkernel.mcp.gateway.calling import call_tool
from orgkernel.mcp.gateway.gateway import McpGateway
from orgkernel.mcp.gateway.listing import list_tools
from orgkernel.mcp.gateway.pins import Pins
from orgkernel.mcp.gateway.spared import estimate_tokens, write_prompt_text
from orgkernel.mcp.server import BY_NAME, describe_tool
from orgkernel.state.location import parse_location
from orgkernel.toolbox.upstream_tools import open_servers
from tests.gateway.use import DEV, ROSTER, calling, write_shop
from tests.support.claude_trees import AGENTS, agent
from tests.support.git_repository import GitRepository
from tests.support.in_process import run_here
from tests.support.patience import PATIENCE
from tests.support.tokens import count_tokens
from tests.support.trees import REPOSITORY, write_tree
from tests.toolbox import mcp_tools

NOW = time.time()
WHO = ("--org", "shop", "--path", ".", "--store", "state.db")


def report(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    done = run_here("gateway", "report", *WHO, *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def as_json(folder: Path, *more: str) -> Any:
    return json.loads(report(folder, "--format", "json", *more).stdout)


def seen(folder: Path, role: str) -> list[dict[str, Any]]:
    """The list of the gateway, of which no server is started."""
    upstreams, _ = open_servers([str(folder / "mcp.json")], {})
    gateway = McpGateway(upstreams, Pins(str(folder / "gateway.lock.json")), print)
    return asyncio.run(_listed(gateway, caller_of(folder, role)))


def caller_of(folder: Path, role: str) -> LocalCaller:
    subject = f"role:{role}"
    location = parse_location(str(folder / "state.db"), str(folder))
    return LocalCaller(Kernel.open(folder), "shop", subject, location, AccessRequest(subject, "", ""))


async def _listed(gateway: McpGateway, caller: LocalCaller) -> list[dict[str, Any]]:
    try:
        return (await list_tools(gateway, caller)).items
    finally:
        caller.close()
        await gateway.aclose()


def names(folder: Path, role: str) -> list[str]:
    return [each["name"] for each in seen(folder, role)]


def apply_to(shop: Path, diff: str) -> None:
    """Apply a diff to the documents, which causes no error."""
    GitRepository(shop).git("apply", input=diff.encode())
    assert run_here("check", ".", cwd=shop).returncode == 0


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Ada, a developer, has read issues and pages for twelve days; the clerk is refused issues."""
    with calling(write_shop(tmp_path / "shop"), NOW) as calls:
        calls.make("agent:ada", "tracker", "list_issues", "list_issues", days=12, times=3)
        calls.make("agent:ada", "wiki", "read_page", "read_page", days=3, failed="TOOL_FAILED")
        refused = calls.make("role:clerk", "tracker", "list_issues", "list_issues", days=2, times=6)
        assert set(refused) == {"deny"}
    return tmp_path / "shop"


def test_the_diff_narrows_what_the_gateway_lists(shop: Path) -> None:
    """Applied with `git apply`, it causes no error, and the list of the role has only what was used."""
    assert names(shop, "dev") == [
        "search__web_search", "tracker__create_issue", "tracker__delete_issue", "tracker__list_issues",
        "wiki__read_page", "wiki__write_page",
    ]  # fmt: skip
    diff = report(shop, "--format", "diff").stdout
    apply_to(shop, diff)
    assert names(shop, "dev") == ["tracker__list_issues", "wiki__read_page"]
    profile = (shop / "roles/dev.yaml").read_text()
    assert "# What it works with." in profile
    assert "- {tool: wiki, level: read}   # the handbook" in profile
    assert "- {tool: tracker, level: read}  # issues and their history" in profile
    assert report(shop, "--format", "diff").stdout == ""


def test_the_command_changes_nothing(shop: Path) -> None:
    """No document, no lock file and no row."""
    before = {path: path.read_bytes() for path in shop.rglob("*") if path.suffix in (".yaml", ".json")}
    rows = run_here("audit", "query", "--store", "state.db", "--limit", "100", cwd=shop).stdout
    for form in ("text", "json", "diff"):
        report(shop, "--format", form, "--asks")
    assert {path: path.read_bytes() for path in before} == before
    assert run_here("audit", "query", "--store", "state.db", "--limit", "100", cwd=shop).stdout == rows


def test_tokens_are_those_of_the_list(shop: Path) -> None:
    """What a role is spared is all tools of the lock file less those that the gateway lists for it."""
    spared = as_json(shop)["spared"]
    assert (spared["unit"], spared["tools"], spared["servers"]) == (
        "estimated_tokens",
        6,
        ["search", "tracker", "wiki"],
    )
    for each in spared["roles"]:
        listed = seen(shop, each["role"])
        assert each["tools"] == len(listed)
        assert each["size"] == sum(estimate_tokens(write_prompt_text(tool)) for tool in listed)
        assert each["spared"] == spared["size"] - each["size"]
    assert {each["role"]: each["tools"] for each in spared["roles"]} == {"lead": 1, "dev": 6, "clerk": 2}


def test_estimated_tokens_are_near_those_of_a_tokenizer() -> None:
    """Of tools, documents and pages of ours: a kind of text is a tenth off at most, a single text a fifth."""
    pages = [path.read_text() for path in sorted((REPOSITORY / "docs").glob("*.md"))]
    profiles = [path.read_text() for path in sorted((REPOSITORY / "templates").rglob("*.yaml"))]
    tools = [write_prompt_text(describe_tool(each).model_dump(by_alias=True)) for each in BY_NAME.values()]
    for texts in (tools, pages, profiles):
        counted = [count_tokens(text) for text in texts]
        estimated = [estimate_tokens(text) for text in texts]
        assert abs(sum(estimated) / sum(counted) - 1) < 0.1
        assert all(abs(guess / count - 1) < 0.2 for guess, count in zip(estimated, counted, strict=True))


def test_calls_are_counted_by_subject_and_tool(shop: Path) -> None:
    """With how many were refused by which code, how many failed, and how many asked."""
    found = as_json(shop)
    assert [(each["subject"], each["tool"], each["calls"], each["failed"], each["refused"]) for each in found["calls"]] == [
        ("agent:ada", "list_issues", 3, {}, {}),
        ("agent:ada", "read_page", 1, {"TOOL_FAILED": 1}, {}),
        ("role:clerk", "list_issues", 6, {}, {"NOT_BOUND_TO_ROLE": 6}),
    ]  # fmt: skip
    assert found["days"] == 12.0
    assert [each["subject"] for each in as_json(shop, "--role", "clerk")["calls"]] == ["role:clerk"]
    assert as_json(shop, "--since", "5d")["calls"][0]["tool"] == "read_page"


def test_a_short_history_takes_nothing_away(shop: Path) -> None:
    """Each role has its own history; one that was never seen to work has none."""
    found = as_json(shop)
    assert {each["role"] for each in found["proposals"] if each["kind"] in ("remove", "lower")} == {"dev"}
    assert found["notes"] == [
        "no agent in role `lead` has called anything, so no removal is proposed",
        "the calls of role `clerk` began less than 7 days ago, so no removal is proposed",
    ]
    longer = as_json(shop, "--at-least", "13d")
    assert longer["diff"] == ""
    assert "the calls of roles `dev`, `clerk` began less than 13 days ago" in longer["notes"][1]
    assert "`--since` leaves less than 7 days" in as_json(shop, "--since", "5d")["notes"][1]
    shorter = as_json(shop, "--at-least", "1d")["proposals"]
    assert ("remove", "clerk", "wiki") in [(each["kind"], each["role"], each["tool"]) for each in shorter]


def test_calls_of_an_agent_count_for_every_role_that_it_fills(tmp_path: Path) -> None:
    """What bob did as a clerk and a developer keeps the tools of both."""
    shop = write_shop(tmp_path, crew=ROSTER + "  bob: {assignments: [{role: clerk}, {role: dev}]}\n")
    with calling(shop, NOW) as calls:
        calls.make("agent:bob", "wiki", "write_page", "write_page", days=9)
    found = as_json(shop)["proposals"]
    assert [(each["kind"], each["role"], each["tool"]) for each in found] == [
        ("remove", "dev", "tracker"),
        ("remove", "dev", "web_search"),
    ]


def test_what_was_asked_elsewhere_counts_as_use(shop: Path) -> None:
    """Who asks whether it may use a tool needs it, also if no call went through the gateway."""
    with calling(shop, NOW) as calls:
        calls.ask("agent:ada", "web_search", "use")
    assert "web_search" not in [each["tool"] for each in as_json(shop)["proposals"]]


def test_the_diff_says_what_is_not_in_it(shop: Path) -> None:
    """On standard error, so that what is printed can be applied."""
    done = report(shop, "--format", "diff")
    assert "note: not in the diff: 1 proposal; `--format text` says why" in done.stderr
    assert done.stdout.startswith("--- a/roles/dev.yaml\n+++ b/roles/dev.yaml\n@@ ")


def test_a_repository_around_the_folder_is_no_matter(shop: Path, tmp_path: Path) -> None:
    """`git apply` takes the diff in the folder in which it was made."""
    repository = GitRepository(tmp_path)
    diff = tmp_path / "narrow.diff"
    diff.write_text(report(shop, "--format", "diff").stdout)
    repository.git("-C", "shop", "apply", str(diff))
    assert names(shop, "dev") == ["tracker__list_issues", "wiki__read_page"]


def test_what_is_refused_often_is_proposed_to_ask(shop: Path) -> None:
    """Only `--asks` puts it into the diff; applied, the tool is listed, and each call asks first."""
    asked = [each for each in as_json(shop)["proposals"] if each["kind"] == "ask"]
    assert [(each["role"], each["tool"], each["level"]) for each in asked] == [("clerk", "tracker", "read")]
    assert asked[0]["commands"] == ["orgkernel grant issue role:clerk tool:tracker --level read --org shop"]
    assert "clerk" not in as_json(shop)["diff"]
    assert not [each for each in as_json(shop, "--often", "7")["proposals"] if each["kind"] == "ask"]
    apply_to(shop, report(shop, "--format", "diff", "--asks").stdout)
    listed = {each["name"]: each for each in seen(shop, "clerk")}
    assert listed["tracker__list_issues"]["_meta"] == {"orgkernel/access": "ask"}
    assert "_meta" not in listed["wiki__read_page"]
    assert "tracker__delete_issue" not in listed


def test_subjects_that_may_grant_are_named(tmp_path: Path) -> None:
    """A superior that has the tool can give it."""
    lead = "_schema: orgkernel:role_profile\nrole_id: lead\nrole_type: commander\ncapabilities: {tools_primary: [tracker]}\nmay_grant: [{tool: tracker}]\n"
    shop = write_shop(tmp_path, roles_lead=lead)
    with calling(shop, NOW) as calls:
        calls.make("agent:bob", "tracker", "list_issues", "list_issues", days=9, times=5)
    asked = next(each for each in as_json(shop)["proposals"] if each["kind"] == "ask")
    assert asked["grantors"] == ["role:lead"]
    assert "or grant it, by `role:lead` or an operator: orgkernel grant issue" in report(shop).stdout


def test_a_refusal_of_an_agent_is_explained_for_that_agent(tmp_path: Path) -> None:
    """A rank that is too low is no matter of the profile, so nothing about it is in the diff."""
    ladder = '_schema: orgkernel:rank_ladder\n_version: "1.0"\nranks: [{id: ensign}, {id: lieutenant}]\n'
    crew = ROSTER + "  ada: {rank: ensign, assignments: [{role: dev}]}\n"
    shop = write_shop(tmp_path)
    tools = (
        (shop / "tools.yaml")
        .read_text()
        .replace("provider: search", "provider: search\n    rank_matrix: {lieutenant: read}")
    )
    write_tree(shop, {"ranks.yaml": ladder, "crew.yaml": crew, "tools.yaml": tools})
    with calling(shop, NOW) as calls:
        assert set(calls.make("agent:ada", "web_search", "use", "web_search", server="search", times=5)) == {
            "deny"
        }
    [found] = [each for each in as_json(shop, "--asks")["proposals"] if each["tool"] == "web_search"]
    assert (found["kind"], found["role"]) == ("grant", "dev")
    assert found["by_hand"] == "no edit of a profile would allow it"
    assert "promote" in found["text"] or found["commands"]


def test_an_agent_in_several_roles_is_left_to_a_person(tmp_path: Path) -> None:
    """A tool needs to be in only one of its roles, and only a person can decide in which."""
    shop = write_shop(tmp_path, crew=ROSTER + "  bob: {assignments: [{role: clerk}, {role: lead}]}\n")
    with calling(shop, NOW) as calls:
        calls.make("agent:bob", "tracker", "list_issues", "list_issues", times=5)
    found = as_json(shop, "--asks")
    asked = {each["role"]: each["by_hand"] for each in found["proposals"]}
    assert asked
    assert set(asked) <= {"clerk", "lead"}
    assert set(asked.values()) == {"agent:bob fills several roles, and one of them is enough"}
    assert found["diff"] == ""


def test_an_error_keeps_a_proposal_out_of_the_diff(tmp_path: Path) -> None:
    """A role that grants a tool has to have it; what else is proposed stays in the diff."""
    dev = DEV + "may_grant: [{tool: web_search}]\n"
    shop = write_shop(tmp_path, roles_dev=dev)
    with calling(shop, NOW) as calls:
        calls.make("agent:ada", "tracker", "list_issues", "list_issues", days=12)
    found = as_json(shop)
    by_tool = {each["tool"]: each["by_hand"] for each in found["proposals"]}
    assert "it would be an error: role `dev` may grant `web_search`" in by_tool["web_search"]
    assert by_tool["tracker"] == by_tool["wiki"] == ""
    apply_to(shop, found["diff"])
    assert names(shop, "dev") == ["search__web_search", "tracker__list_issues"]


def test_an_error_elsewhere_keeps_a_proposal_out_of_the_diff(tmp_path: Path) -> None:
    """Also where it is about nothing that was edited: here, a tool that no role has any more."""
    lead = "_schema: orgkernel:role_profile\nrole_id: lead\nrole_type: commander\ndescription: Leads.\n"
    shop = write_shop(tmp_path, roles_lead=lead)
    (shop / "orgkernel.toml").write_text('[severities]\nORG701 = "error"\n')
    with calling(shop, NOW) as calls:
        calls.make("agent:ada", "tracker", "list_issues", "list_issues", days=12)
    found = as_json(shop)
    by_tool = {each["tool"]: each["by_hand"] for each in found["proposals"]}
    assert by_tool["tracker"] == by_tool["wiki"] == ""
    assert by_tool["web_search"].startswith("it would be an error: tool `web_search` is not used by any role")
    apply_to(shop, found["diff"])
    assert names(shop, "dev") == ["search__web_search", "tracker__list_issues"]


def test_roles_in_one_file_are_told_apart(tmp_path: Path) -> None:
    """Each organization loses the tools that none of its agents used, and an error in one does not affect the other."""
    clerk = "_schema: orgkernel:role_profile\nrole_id: clerk\ndescription: Keeps records.\ncapabilities: {tools_primary: [web_search, wiki]}\n"
    shop = write_shop(tmp_path, roles_dev=f"{DEV}may_grant: [{{tool: web_search}}]\n---\n{clerk}")
    (shop / "roles/clerk.yaml").unlink()
    with calling(shop, NOW) as calls:
        for subject in ("agent:ada", "agent:bob"):
            calls.make(subject, "wiki", "read_page", "read_page", days=12)
    apply_to(shop, report(shop, "--format", "diff").stdout)
    assert names(shop, "dev") == ["search__web_search", "wiki__read_page"]
    assert names(shop, "clerk") == ["wiki__read_page"]


def test_one_entry_for_a_whole_server_is_to_be_declared_in_parts(tmp_path: Path) -> None:
    """A role that calls one of its tools cannot be narrowed before they are told apart."""
    tools = '_schema: orgkernel:tool_catalog\n_version: "1.0"\ntools:\n  mcp__wiki: {type: mcp_server, provider: wiki}\n'
    clerk = "_schema: orgkernel:role_profile\nrole_id: clerk\ndescription: Keeps records.\ncapabilities: {tools_primary: [mcp__wiki]}\n"
    dev = "_schema: orgkernel:role_profile\nrole_id: dev\ndescription: Writes code.\n"
    lead = "_schema: orgkernel:role_profile\nrole_id: lead\nrole_type: commander\n"
    shop = write_shop(tmp_path, tools=tools, roles_clerk=clerk, roles_dev=dev, roles_lead=lead)
    with calling(shop, NOW) as calls:
        calls.make("agent:bob", "mcp__wiki", "use", "read_page", server="wiki", days=9)
    found = as_json(shop)
    [proposal] = found["proposals"]
    assert (proposal["kind"], proposal["tool"]) == ("declare", "mcp__wiki")
    assert proposal["because"] == "it has called 1 of 2 (`read_page`)"
    assert found["diff"] == ""


def test_a_profile_of_others_is_left_to_a_person(tmp_path: Path) -> None:
    """An agent of Claude Code gets the proposal in words, with its file and line."""
    files = {
        f"{AGENTS}/fixer.md": agent("fixer", "Fixes. Use when something is broken.", "Read, mcp__tracker__open, mcp__tracker__close"),
        ".mcp.json": '{"mcpServers": {"tracker": {"command": "x"}}}\n',
        "gateway.lock.json": json.dumps({"version": 1, "servers": {"tracker": {"tools": {"open": {"name": "open"}, "close": {"name": "close"}}}}}),
    }  # fmt: skip
    write_tree(tmp_path, files)
    kernel = Kernel.open(tmp_path)
    [org] = kernel.state.served
    with calling(tmp_path, NOW) as calls:
        calls.make("role:fixer", "mcp__tracker__open", "use", "open", server="tracker", days=9, org=org)
    done = run_here(
        "gateway", "report", "--path", ".", "--store", "state.db", "--format", "json", cwd=tmp_path
    )
    found = json.loads(done.stdout)
    assert [(each["kind"], each["tool"], each["file"], each["line"]) for each in found["proposals"]] == [
        ("remove", "mcp__tracker__close", f"{AGENTS}/fixer.md", 4)
    ]
    assert found["proposals"][0]["by_hand"] == f"{AGENTS}/fixer.md is in another format"
    assert found["diff"] == ""


def test_a_shared_profile_is_left_to_a_person(tmp_path: Path) -> None:
    """Another organization could need a tool that is unused here."""
    shop = write_shop(tmp_path)
    other = '_schema: orgkernel:organization\n_version: "1.0"\norg_id: branch\nhierarchy: {dev: {}}\n'
    (shop / "branch.yaml").write_text(other)
    with calling(shop, NOW) as calls:
        calls.make("agent:ada", "tracker", "list_issues", "list_issues", days=12)
    found = as_json(shop)
    assert {each["by_hand"] for each in found["proposals"]} == {"the profile belongs to `branch` too"}
    assert found["diff"] == ""


def test_documents_elsewhere_have_a_folder_of_their_own(shop: Path, tmp_path: Path) -> None:
    """A diff of files outside of the current folder says where it is to be applied."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    words = ("--org", "shop", "--path", str(shop), "--store", str(shop / "state.db"))
    lock = ("--lock", str(shop / "gateway.lock.json"))
    done = run_here("gateway", "report", *words, *lock, "--format", "diff", cwd=elsewhere)
    assert "note: apply it in `../shop/roles`" in done.stderr
    GitRepository(shop / "roles").git("apply", input=done.stdout.encode())
    assert names(shop, "dev") == ["tracker__list_issues", "wiki__read_page"]


def test_names_of_servers_cannot_change_the_terminal(tmp_path: Path) -> None:
    """What a server is called is written out."""
    shop = write_shop(tmp_path)
    with calling(shop, NOW) as calls:
        calls.make("agent:ada", "tracker", "list_issues", "x\x1b[2J\ny", days=1)
    text = report(shop).stdout
    assert "\x1b" not in text
    assert "tracker/x\\x1b[2J\\ny" in text


def test_without_a_store_there_are_only_tokens(tmp_path: Path) -> None:
    """And no store is made by asking."""
    shop = write_shop(tmp_path)
    done = report(shop)
    assert "note: there is no store, so nothing is known about calls" in done.stderr
    assert "  clerk  2" in done.stdout
    assert not (shop / "state.db").exists()


def test_a_lock_file_has_to_be_there(tmp_path: Path) -> None:
    """Without accepted tools nothing can be said, and the error says how to get them."""
    shop = write_shop(tmp_path)
    done = run_here("gateway", "report", *WHO, "--lock", "nowhere.json", cwd=shop)
    assert done.returncode == 2
    assert "there is no file `nowhere.json`" in done.stderr
    assert "orgkernel gateway accept" in done.stderr


def test_calls_through_the_gateway_are_what_is_counted(tmp_path: Path) -> None:
    """A real server is called, and the report counts the call with its server and tool."""
    server = {"command": sys.executable, "args": [mcp_tools.__file__]}
    shop = write_shop(tmp_path)
    (shop / "mcp.json").write_text(json.dumps({"mcpServers": {"wiki": server}}))
    (shop / "gateway.lock.json").unlink()
    tools = '_schema: orgkernel:tool_catalog\n_version: "1.0"\ntools:\n  look: {type: mcp_server, provider: wiki, side_effects: read}\n'
    (shop / "more.yaml").write_text(tools)
    (shop / "roles/clerk.yaml").write_text(
        "_schema: orgkernel:role_profile\nrole_id: clerk\ndescription: Keeps records.\ncapabilities: {tools_primary: [look]}\n"
    )
    upstreams, _ = open_servers([str(shop / "mcp.json")], {})
    gateway = McpGateway(upstreams, Pins(str(shop / "gateway.lock.json")), print)
    caller = caller_of(shop, "clerk")

    async def nobody(message: str, request_id: str) -> None:
        return None

    async def call() -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                found = await call_tool(gateway, caller, "wiki__look", {"where": "here"}, form_asker=nobody)
                assert not found.get("isError"), found
        finally:
            caller.close()
            await gateway.aclose()

    asyncio.run(call())
    [counted] = as_json(shop)["calls"]
    assert (counted["subject"], counted["server"], counted["tool"], counted["tool_id"], counted["allowed"]) == (
        "role:clerk", "wiki", "look", "look", 1,
    )  # fmt: skip


def run_without_sdk(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command where the SDK of MCP is not installed, in a process that has not imported it yet."""
    program = "import sys; sys.modules['mcp'] = None; from orgkernel.cli import main; main()"
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.parametrize(
    "words",
    [
        ("gateway", "--role", "clerk", "--mcp-config", "mcp.json"),
        ("gateway", "accept", "--mcp-config", "mcp.json"),
        ("gateway", "report"),
        ("mcp", "--role", "clerk"),
        ("mcp", "tools", "mcp.json", "--connect"),
    ],
    ids=" ".join,
)
def test_what_needs_the_sdk_names_the_extra(shop: Path, words: tuple[str, ...]) -> None:
    """A default installation does not have it."""
    done = run_without_sdk(*words, folder=shop)
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1] == "help: install the extra `orgkernel[mcp]`"
