"""An error in the file of one agent or role takes out only this one, and the others still answer."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel import AccessRequest, Kernel
from orgkernel.decisions.access.vanished import find_vanished
from orgkernel.decisions.evidence.state_view import Grant
from tests.support.claude_trees import agent
from tests.support.in_process import run_here
from tests.support.other_trees import TREES, lay_out
from tests.support.trees import write_tree

FAULTS = {
    "not_yaml": "---\nname: c\n- x\n---\n",
    "no_name": "---\nname: ''\ndescription: Does c.\n---\n",
    "wrong_type": "---\nname: c\ndescription: Does c.\ndisallowedTools: {a: b}\n---\n",
    "unprintable": "---\nname: c\ndescription: Does \x04 c.\n---\nText.\n",
    "no_front_matter": "# Only text\n",
    "too_large": "---\nname: c\ndescription: Does c.\n---\n" + "word " * 60_000,
    "same_name": agent("a", "Does a too.", "Bash"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_faulty_agent_is_out_of_service(fault: str, tmp_path: Path) -> None:
    """It may do nothing, and the others answer, after reading and from the cache."""
    files = {
        ".claude/agents/a.md": agent("a", "Does a. Use it.", "Read"),
        ".claude/agents/b.md": agent("b", "Does b. Use it.", "Read"),
        ".claude/agents/c.md": FAULTS[fault],
    }
    write_tree(tmp_path, files)
    kernel = Kernel.open(tmp_path)
    org = kernel.organization("active").snapshot
    faulty = "a" if fault == "same_name" else "c"
    assert set(org.records.posts) == {"a", "b"} - {faulty}
    assert kernel.can(org.org_id, AccessRequest("role:b", "use", "tool:Read")).outcome == "allow"
    assert kernel.can(org.org_id, AccessRequest(f"role:{faulty}", "use", "tool:Read")).outcome == "deny"
    assert run_here("check", cwd=tmp_path).returncode == 1
    for _ in range(2):
        done = run_here("can", "role:b", "use", "tool:Read", cwd=tmp_path)
        assert (done.returncode, done.stdout.split(":")[0]) == (0, "allow")
        assert run_here("can", f"role:{faulty}", "use", "tool:Read", cwd=tmp_path).returncode == 1


def test_a_question_about_it_names_the_error(tmp_path: Path) -> None:
    """Not as if the role did not exist."""
    files = {".claude/agents/a.md": agent("a", "Does a."), ".claude/agents/b.md": agent("b", "Does b.")}
    files[".claude/agents/c.md"] = agent("b", "Does b too.")
    done = run_here("manifest", "b", cwd=write_tree(tmp_path, files))
    assert done.returncode == 2
    assert "is out of service: .claude/agents/c.md:2:7: role `b` is declared more than once" in done.stderr
    denied = run_here("can", "role:b", "use", "tool:Read", cwd=tmp_path)
    assert "because role `b` is out of service: role `b` is declared more than once" in denied.stdout
    assert ".claude/agents/c.md:2" in denied.stdout


def test_unreadable_permission_rules_hold_the_organization_back(tmp_path: Path) -> None:
    """What they deny is not known."""
    files = {".claude/agents/a.md": agent("a", "Does a.", "Read"), ".claude/settings.json": "{"}
    done = run_here("can", "role:a", "use", "tool:Read", cwd=write_tree(tmp_path, files))
    assert done.returncode == 2
    assert "has 1 error" in done.stderr


BROKEN = {
    "agent_format": ("broken.agf.yaml", "metadata: 1\n", "role:lead use tool:look_up"),
    "autogen": ("broken.json", '{"provider": "autogen_agentchat.agents.AssistantAgent", "config": {}}', "role:travel_agent use tool:book"),
    "adk": ("below/broken.yaml", "agent_class: LlmAgent\nname: {a: b}\n", "role:code_tutor use tool:google_search"),
    "agent_framework": ("broken.yaml", "kind: Prompt\nname: {a: b}\n", "role:Weather use tool:GetWeather"),
    "opencode": (".opencode/agents/broken.md", "---\nmode: [\n---\nx\n", "role:lead use tool:read"),
    "codex": (".codex/agents/broken.toml", 'name = "broken\n', "role:explorer use tool:spawn_agent"),
    "gemini_cli": (".gemini/agents/broken.md", "---\nname: [\n---\nx\n", "role:auditor use tool:read_file"),
    "cursor": (".cursor/agents/broken.md", "---\nname: [\n---\nx\n", "role:debugger use tool:browser"),
    "kiro": (".kiro/agents/broken.json", "{", "role:releaser use tool:read"),
    "roo": (".roomodes", TREES["roo"][".roomodes"] + "  - {slug: a b}\n", "role:builder use tool:read_file"),
    "copilot": (".github/agents/broken.agent.md", "---\ntools: {a: b}\nname: [\n---\nx\n", "role:Planner use tool:search"),
    "probos": ("config/standing_orders/crew_profiles/broken.yaml", "personality: {openness: [}\n", "agent:deckhand use tool:winch"),
    "agent_zero": ("agents/broken/agent.yaml", "title: [\n", "role:lead use tool:response"),
}  # fmt: skip
PROSE = (
    "Set `AKIAIOSFODNN7EXAMPLE` first. password = 'hunter2hunter2' and token: ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "Ask the `nobody` agent. Read `none/of/it.md`. Run the `/none` command. Never write code, then write code.",
    "word " * 9_000,
    "x: [y\n---\n" + "---\nname: other\ntools: '*'\n---\n",
)


@pytest.mark.parametrize("format", BROKEN)
def test_a_broken_file_takes_out_only_its_agent(tmp_path: Path, format: str) -> None:
    """In every format: the error is told, and the other agents answer as before."""
    name, text, question = BROKEN[format]
    tree = lay_out(tmp_path / "shop", format)
    before = run_here("can", *question.split(), cwd=tree)
    assert before.returncode in (0, 3), before.stderr
    write_tree(tree, {name: text})
    done = run_here("check", cwd=tree)
    assert (done.returncode, name in done.stdout) == (1, True), done.stdout
    assert run_here("can", *question.split(), cwd=tree).stdout == before.stdout


@pytest.mark.parametrize("prose", PROSE, ids=["secrets", "references", "length", "fences"])
@pytest.mark.parametrize("host", ["claude-code", "opencode", "gemini_cli", "cursor", "kiro", "copilot"])
def test_the_text_of_an_agent_puts_no_agent_out_of_service(tmp_path: Path, host: str, prose: str) -> None:
    """Whatever an author writes into the text of an agent, all agents answer; only a certain secret is an error."""
    if host == "claude-code":
        tree = write_tree(tmp_path, {".claude/agents/a.md": agent("a", "Does a. Use it.", "Read")})
        question = "role:a use tool:Read"
    else:
        tree, question = lay_out(tmp_path / "shop", host), BROKEN[host][2]
    folder = {
        "opencode": ".opencode/agents",
        "gemini_cli": ".gemini/agents",
        "cursor": ".cursor/agents",
        "kiro": ".kiro/agents",
        "copilot": ".github/agents",
    }
    name = f"{folder.get(host, '.claude/agents')}/z{'.agent' if host == 'copilot' else ''}.md"
    before = run_here("can", *question.split(), cwd=tree).stdout
    write_tree(tree, {name: f"---\nname: z\ndescription: Does z. Use it.\n---\n{prose}\n"})
    assert run_here("can", *question.split(), cwd=tree).stdout == before
    assert run_here("what-can", "role:z", cwd=tree).returncode == 0


SHARED = {
    "opencode": (
        {"opencode.json": '{"agent": {"a": {"description": "x"}, "c": {"description": 3}}}'},
        "bash",
    ),
    "crewai": (
        {
            "config/agents.yaml": "a: {role: A, goal: Do a, backstory: Does a.}\nc: {role: C, goal: 3}\n",
            "config/tasks.yaml": "t: {description: Do t, expected_output: T, agent: a}\n",
        },
        "",
    ),
    "codex": (
        {".codex/config.toml": "[agents.a]\ndescription = 'x'\n[agents.c]\ndescription = 3\n"},
        "shell",
    ),
}


@pytest.mark.parametrize("host", SHARED)
def test_a_faulty_entry_takes_out_only_its_agent(host: str, tmp_path: Path) -> None:
    """Also where one file declares several agents; a question about the faulty one names the error."""
    files, tool = SHARED[host]
    write_tree(tmp_path, files)
    assert run_here("check", cwd=tmp_path).returncode == 1
    assert run_here("manifest", "a", cwd=tmp_path).returncode == 0
    if tool:
        assert run_here("can", "role:a", "use", f"tool:{tool}", cwd=tmp_path).returncode == 0
    done = run_here("manifest", "c", cwd=tmp_path)
    assert done.returncode == 2
    assert "is out of service" in done.stderr


OWN = {
    "org.yaml": "_schema: orgkernel:organization\norg_id: shop\nhierarchy: {lead: {subordinates: [dev, qa]}, dev: {}, qa: {}}\n",
    "roles/lead.yaml": "_schema: orgkernel:role_profile\nrole_id: lead\nrole_type: commander\ndescription: Leads.\n",
    "roles/qa.yaml": "_schema: orgkernel:role_profile\nrole_id: qa\ndescription: Tests.\ncapabilities: {tools_primary: [code_execution_tool]}\n",
    "crew.yaml": "_schema: orgkernel:crew_roster\nagents:\n  ada: {assignments: [{role: dev}, {role: qa}]}\n  bob: {assignments: [{role: qa}]}\n",
}
DEV = "_schema: orgkernel:role_profile\nrole_id: dev\ndescription: Develops.\ncapabilities: {tools_primary: [code_execution_tool]}\n"
TOOL = ("use", "tool:code_execution_tool")
OF_ONE_ROLE = {
    "unknown_superior": DEV + "chain_of_command: {reports_to: no_such_role}\n",
    "unknown_field_type": DEV + "examples: 3\n",
    "not_yaml": DEV + "x: [\n",
    "comment_and_separator": "# The developer.\n---\n" + DEV + "x: [\n",
    "unprintable": DEV + "# \x04\n",
    "repeated_key": DEV + "role_id: dev\n",
    "unknown_trigger": DEV
    + "pace_plan: {primary: {action: x}, alternate: {trigger: no_such > 1, action: y}}\n",
}
OF_ALL = {
    # It could contain anything.
    "empty": "",
    "cut_before_its_kind": "# The developer.\nrole_id: dev\nx: [\n",
    "two_documents": DEV + "---\n_schema: orgkernel:access_policies\npolicies: [\n",
    "second_document_without_its_kind": DEV + "x: [\n---\n_shema: orgkernel:access_policies\n",
    "two_documents_after_another_line_end": DEV + "x: [\r---\r_shema: orgkernel:access_policies\r",
    "a_policy_beside_it": DEV + "examples: 3\n---\n_schema: orgkernel:access_policies\npolicies: {}\n",
    # The chain of command is wrong.
    "cycle": DEV + "chain_of_command: {reports_to: dev}\n",
}


@pytest.mark.parametrize("fault", OF_ONE_ROLE)
def test_one_faulty_profile_is_out_of_service(tmp_path: Path, fault: str) -> None:
    """In orgkernel documents, after reading and from the cache; agents that fill the role are out of service with it."""
    write_tree(tmp_path, {**OWN, "roles/dev.yaml": OF_ONE_ROLE[fault]})
    checked = run_here("check", cwd=tmp_path)
    assert checked.returncode == 1
    assert (
        "role `dev` of organization `shop` is out of service, because its file has an error" in checked.stdout
    )
    assert "agent `ada` of organization `shop` is out of service, because its role `dev` is" in checked.stdout
    for _ in range(2):
        for subject, code in (("role:qa", 0), ("agent:bob", 0), ("role:dev", 1), ("agent:ada", 1)):
            done = run_here("can", subject, *TOOL, cwd=tmp_path)
            assert (done.returncode, done.stderr) == (code, "")
            assert ("is out of service" in done.stdout) is (code == 1)
            assert ("roles/dev.yaml:" in done.stdout) is (code == 1)
        for question in (["dev"], ["--agent", "ada"]):
            done = run_here("manifest", *question, cwd=tmp_path)
            assert done.returncode == 2
            assert "is out of service" in done.stderr
            assert "roles/dev.yaml:" in done.stderr


@pytest.mark.parametrize("fault", OF_ALL)
def test_a_fault_that_could_concern_others_holds_back_the_organization(tmp_path: Path, fault: str) -> None:
    """Because what it would have denied is not known."""
    write_tree(tmp_path, {**OWN, "roles/dev.yaml": OF_ALL[fault]})
    assert run_here("check", cwd=tmp_path).returncode == 1
    done = run_here("can", "role:qa", *TOOL, cwd=tmp_path)
    assert done.returncode == 2
    assert "organization `shop` has" in done.stderr


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("org.yaml", OWN["org.yaml"] + "departments: 3\n"),
        ("crew.yaml", OWN["crew.yaml"] + "description: 3\n"),
        ("policies.yaml", "_schema: orgkernel:access_policies\npolicies: 3\n"),
    ],
)
def test_what_others_depend_on_holds_back_the_organization(tmp_path: Path, file: str, text: str) -> None:
    """The organization, a roster and a policy."""
    write_tree(tmp_path, {**OWN, "roles/dev.yaml": DEV, file: text})
    assert run_here("can", "role:dev", *TOOL, cwd=tmp_path).returncode == 2


MIDDLE = {
    **OWN,
    "org.yaml": OWN["org.yaml"].replace("[dev, qa]", "[head]").replace("qa: {}", "head: {subordinates: [dev, qa]}"),
    "roles/head.yaml": "_schema: orgkernel:role_profile\nrole_id: head\nrole_type: executive\ndescription: Heads.\n",
    "roles/dev.yaml": DEV,
}  # fmt: skip
EXAMPLES = "examples: 3\n"


@pytest.mark.parametrize(
    "fault",
    [EXAMPLES, "pace_plan: {primary: {action: x}, alternate: {trigger: no_such > 1, action: y}}\n", "x: [\n"],
)
def test_the_chain_of_command_leads_through_a_role_that_is_out_of_service(tmp_path: Path, fault: str) -> None:
    """Its subordinates answer, report to its superior, and are not commanded by it, after reading and from the cache."""
    write_tree(tmp_path, {**MIDDLE, "roles/head.yaml": MIDDLE["roles/head.yaml"] + fault})
    for _ in range(2):
        for question, code in (
            (["role:dev", *TOOL], 0),
            (["role:lead", "handoff", "role:dev"], 0),
            (["role:dev", "escalate", "role:lead"], 0),
            (["role:head", "handoff", "role:dev"], 1),
            (["role:dev", "escalate", "role:head"], 1),
            (["role:dev", "handoff", "role:qa"], 1),
        ):
            assert run_here("can", *question, cwd=tmp_path).returncode == code, question
        chart = run_here("graph", cwd=tmp_path).stdout
        assert "└── head (out of service)\n        ├── dev" in chart
        assert "r0 --> r1" in run_here("graph", "--format", "mermaid", cwd=tmp_path).stdout
        shown = json.loads(run_here("manifest", "dev", "--format", "json", cwd=tmp_path).stdout)
        assert [each["id"] for each in shown["chain_of_command"]] == ["head", "lead"]


@pytest.mark.parametrize("fault", [EXAMPLES, "x: [\n"])
def test_the_top_can_be_out_of_service(tmp_path: Path, fault: str) -> None:
    """The roles below answer, and a request goes to the nearest superior in service."""
    write_tree(tmp_path, {**MIDDLE, "roles/lead.yaml": MIDDLE["roles/lead.yaml"] + fault})
    assert run_here("can", "role:head", "handoff", "role:dev", cwd=tmp_path).returncode == 0
    assert run_here("can", "role:lead", "handoff", "role:dev", cwd=tmp_path).returncode == 1
    kernel = Kernel.open(tmp_path)
    view = kernel.organization("shop").snapshot.index
    assert view.list_superiors_in_service("dev") == ("head",)
    assert view.get_superior_in_service("head") is None


def test_a_tool_out_of_reach_takes_nothing_out(tmp_path: Path) -> None:
    """Its decision refuses the tool, and the role answers."""
    tools = "_schema: orgkernel:tool_catalog\ntools: {deploy: {type: remote_api, restricted_to: [qa]}}\n"
    text = DEV.replace("tool]", "tool, deploy]")
    write_tree(tmp_path, {**OWN, "tools.yaml": tools, "roles/dev.yaml": text})
    assert "ORG409" in run_here("check", cwd=tmp_path).stdout
    assert run_here("can", "role:dev", *TOOL, cwd=tmp_path).returncode == 0
    assert run_here("can", "role:dev", "use", "tool:deploy", cwd=tmp_path).returncode == 1


def test_a_reload_is_a_cold_load(tmp_path: Path) -> None:
    """The digest includes the error, a version from the cache knows the file, and the corrected role answers again."""
    write_tree(tmp_path, {**OWN, "roles/dev.yaml": DEV})
    kernel = Kernel.open(tmp_path)
    digests = [kernel.organization("shop").snapshot.digest]
    for text in (OF_ONE_ROLE["unknown_superior"], OF_ONE_ROLE["not_yaml"], OF_ONE_ROLE["repeated_key"], DEV):
        write_tree(tmp_path, {"roles/dev.yaml": text})
        assert kernel.reload().updated == ("shop",)
        assert kernel.reload().changed is False
        cold = Kernel.open(tmp_path).organization("shop").snapshot
        warm = kernel.organization("shop").snapshot
        digests.append(warm.digest)
        assert (warm.digest, warm.records.files) == (cold.digest, cold.records.files)
        assert warm.diagnostics == cold.diagnostics
        assert any(each.endswith("dev.yaml") for each in warm.records.files)
        assert ("dev" in warm.records.posts) is (text == DEV)
    assert digests[0] == digests[-1]
    assert len(set(digests)) == len(digests) - 1


def test_every_surface_tells_who_is_out_of_service(tmp_path: Path) -> None:
    """Lists lack the role and say so, a comparison does not call it removed, and an export writes nothing unless asked to."""
    whole = write_tree(tmp_path / "whole", {**OWN, "roles/dev.yaml": DEV})
    tree = write_tree(tmp_path / "tree", {**OWN, "roles/dev.yaml": OF_ONE_ROLE["not_yaml"]})
    note = "note: role `dev` is out of service: roles/dev.yaml:"
    for command in (["graph"], ["manifest"], ["crew"], ["who-can", *TOOL], ["dispatch", "codegen"]):
        assert note in run_here(*command, cwd=tree).stderr, command
    compared = run_here("diff", str(whole), ".", cwd=tree)
    assert "role `dev` is out of service: roles/dev.yaml:" in compared.stderr
    assert "is removed" not in compared.stdout
    export = ["export", "--to", "agent-spec", "-o", "out"]
    refused = run_here(*export, cwd=tree)
    assert (refused.returncode, (tree / "out").exists()) == (2, False)
    assert "nothing was written: role `dev` is out of service: roles/dev.yaml:" in refused.stderr
    assert run_here(*export, "--accept-losses", cwd=tree).returncode == 0
    texts = [path.read_text(encoding="utf-8") for path in (tree / "out").rglob("*") if path.is_file()]
    assert any("Tests." in text for text in texts)
    assert not any("Develops." in text for text in texts)


def test_a_server_goes_on_without_the_role(tmp_path: Path) -> None:
    """The other roles answer after a reload, the status names the error, and the role answers again when it is corrected."""
    kernel = Kernel.open(write_tree(tmp_path, {**OWN, "roles/dev.yaml": DEV}))
    with TestClient(create_app(kernel), client=("127.0.0.1", 1), base_url="http://127.0.0.1") as client:
        for text in (OF_ONE_ROLE["not_yaml"], DEV):
            write_tree(tmp_path, {"roles/dev.yaml": text})
            kernel.reload()
            is_out = text != DEV
            assert client.get("/v1/orgs/shop/roles/qa").status_code == 200
            answer = client.get("/v1/orgs/shop/roles/dev")
            assert answer.status_code == (404 if is_out else 200)
            ready = client.get("/readyz")
            assert ready.status_code == 200
            assert ready.json()["status"] == ("degraded" if is_out else "ready")
            (standing,) = ready.json()["organizations"]
            assert standing["standing"] == "served"
            assert ("role `dev` is out of service" in standing["reason"]) is is_out
            if is_out:
                assert answer.json()["code"] == "UNKNOWN_ROLE"
                assert "roles/dev.yaml:6" in answer.json()["detail"]


def test_a_grant_of_a_role_that_is_out_of_service_stays(tmp_path: Path) -> None:
    """It is not put to sleep, as that of a role that was removed is; it gives nothing meanwhile."""
    kernel = Kernel.open(write_tree(tmp_path, {**OWN, "roles/dev.yaml": OF_ONE_ROLE["unknown_superior"]}))
    view = kernel.organization("shop").snapshot.index
    grants = [
        Grant(name, name, ("tool:scheduler",), "full", org_id="shop")
        for name in ("role:dev", "agent:ada", "role:gone")
    ]
    assert [each.subject for each in find_vanished([view], grants)] == ["role:gone"]


def test_a_character_in_the_text_silences_no_agent(tmp_path: Path) -> None:
    """The host loads the file, so it is a warning; in the front matter the agent is out of service."""
    text = "---\nname: {}\ndescription: Does it{}. Use it.\ntools: Read\n---\nText{}.\n"
    files = {
        ".claude/agents/a.md": text.format("a", "", "\x04"),
        ".claude/agents/b.md": text.format("b", "\x04", ""),
    }
    kernel = Kernel.open(write_tree(tmp_path, files))
    findings = {
        (os.path.relpath(each.place.file, tmp_path), each.code, each.severity.value)
        for each in kernel.check()
    }
    assert findings == {
        (".claude/agents/a.md", "ORG015", "warning"),
        (".claude/agents/b.md", "ORG015", "error"),
    }
    assert set(kernel.organization("active").snapshot.records.posts) == {"a"}
