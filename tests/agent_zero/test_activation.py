"""Activation: what is written into a host, in which order, and that nothing of others is touched."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from extension.host.organization import find_active
from orgkernel import Kernel
from orgkernel.errors import UsageError
from orgkernel.exchange.agent_zero.activation import activate, deactivate
from orgkernel.exchange.agent_zero.compiling import compile_bundle
from orgkernel.exchange.agent_zero.status import read_status
from orgkernel.runtime.bundle import compute_checksum_of, read_bundle
from tests.cli.running import SHOP
from tests.support.hosts import GENERATIONS, make_host, picture
from tests.support.in_process import run_here as run
from tests.support.trees import change_line, copy_template, write_tree
from tests.support.yaml_text import read_yaml_file

KERNEL = Kernel.open()
BUNDLES = {
    org: compile_bundle(KERNEL.organization(org).snapshot.index, "test") for org in KERNEL.state.served
}
PROFILES = {"G1": "agents", "G2": "usr/agents", "G3": "usr/agents"}
ORGANIZATIONS = "usr/organizations"


class Crash(BaseException):
    """The machine stops here."""


@pytest.fixture(params=GENERATIONS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """A host of each generation."""
    return request.param, make_host(tmp_path, request.param)


def read(root: Path, path: str) -> Any:
    return json.loads((root / path).read_text(encoding="utf-8"))


def in_force(root: Path) -> tuple[str, str] | None:
    """The organization a host would load and what it was compiled from; None when it is off."""
    if not (root / ORGANIZATIONS / "active.json").exists():
        return None
    active = read(root, f"{ORGANIZATIONS}/active.json")
    bundle = read_bundle(read(root, f"{ORGANIZATIONS}/{active['x_orgkernel']['bundle']}"))
    assert bundle.org_id == active["org_id"]
    return bundle.org_id, bundle.checksum


def test_activation_and_deactivation_leave_no_trace(host: tuple[str, Path]) -> None:
    """On, another one, on again, off: afterwards every file and folder is as it was before."""
    _, root = host
    before = picture(root)
    for org in ("software_dev", "sigint_alpha", "sigint_alpha", "household"):
        activate(str(root), BUNDLES[org], {})
        assert in_force(root) == (org, BUNDLES[org]["checksum"])
        flat = {path.stem for path in (root / ORGANIZATIONS / "roles").iterdir()}
        assert flat == set(BUNDLES[org]["roles"])
    deactivate(str(root))
    assert picture(root) == before
    assert deactivate(str(root)).removed == ()


def test_native_profiles_are_those_of_the_generation(host: tuple[str, Path]) -> None:
    """Each role is a profile in the form and folder that this generation reads, and no prompt lists it."""
    generation, root = host
    activate(str(root), BUNDLES["software_dev"], {})
    role = BUNDLES["software_dev"]["roles"]["bugfix_specialist"]
    folder = root / PROFILES[generation] / "bugfix_specialist"
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    prompt = "specifics" if generation == "G3" else "role"
    if generation == "G1":
        assert not folder.exists(), "this generation lists every folder"
        return
    assert role["brief"] in (folder / f"prompts/agent.system.main.{prompt}.md").read_text(encoding="utf-8")
    if generation == "G2":
        assert files == ["agent.json", "prompts/agent.system.main.role.md"]
        about = json.loads((folder / "agent.json").read_text(encoding="utf-8"))
    else:
        assert files == [
            "agent.yaml",
            "plugins/_tool_access/config.json",
            "prompts/agent.system.main.specifics.md",
        ]
        about = read_yaml_file(folder / "agent.yaml")
    assert about == {
        "title": "Bugfix Specialist",
        "description": role["description"],
        "context": "Handles: bugfix, log_analysis. A role in Software Development Organization that reports to engineering_xo.",
        "enabled": False,
    }  # fmt: skip


def test_a_description_is_no_template_of_the_host(host: tuple[str, Path]) -> None:
    """What a host's prompts would replace or include is shown as text."""
    generation, root = host
    if generation == "G1":
        return
    bundle = copy.deepcopy(BUNDLES["software_dev"])
    for part in ("description", "brief"):
        bundle["roles"]["co"][part] += ' Says {{ include "secret.md" }} aloud.'
    del bundle["checksum"]
    activate(str(root), bundle | {"checksum": compute_checksum_of(bundle)}, {})
    folder = root / PROFILES[generation] / "co"
    written = [path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()]
    assert sum("{ { include" in text for text in written) >= 2
    assert not any("{{" in text for text in written)


def test_the_tool_policy_blocks_what_the_role_may_not_use(tmp_path: Path) -> None:
    """By the ids of the tools where they lie; unlisted tools as the setting says; none unless it is enforced."""
    root = make_host(tmp_path, "G3")
    path = "usr/agents/research_xo/plugins/_tool_access/config.json"
    activate(str(root), BUNDLES["software_dev"], {})
    policy = read(root, path)
    assert {name: policy[name] for name in ("mode", "default", "mcp_default")} == {
        "mode": "custom", "default": "allow", "mcp_default": "allow",
    }  # fmt: skip
    assert {"plugin:_code_execution:code_execution_tool", "plugin:_code_execution:input"} <= set(
        policy["blocked"]
    )
    assert {"local:response", "local:call_subordinate"} <= set(policy["allowed"])
    assert not set(policy["allowed"]) & set(policy["blocked"])
    activate(str(root), BUNDLES["software_dev"], {"unlisted_tools": "refuse"})
    assert (read(root, path)["default"], read(root, path)["mcp_default"]) == ("block", "block")
    activate(str(root), BUNDLES["software_dev"], {"enforcement": "trim"})
    assert not (root / path).exists()


def test_under_observe_no_profile_is_offered(host: tuple[str, Path]) -> None:
    """Observing changes nothing. The first generation has no profiles of ours at all."""
    generation, root = host
    offered = generation != "G1"
    folder = root / PROFILES[generation] / "bugfix_specialist"
    profiles = root / PROFILES[generation]
    before = sorted(profiles.iterdir()) if profiles.exists() else []
    activate(str(root), BUNDLES["software_dev"], {})
    assert folder.is_dir() == offered
    activate(str(root), BUNDLES["software_dev"], {"enforcement": "observe"})
    assert (sorted(profiles.iterdir()) if profiles.exists() else []) == before
    activate(str(root), BUNDLES["software_dev"], {"enforcement": "trim"})
    assert folder.is_dir() == offered


def test_the_status_names_what_is_no_setting(tmp_path: Path) -> None:
    """A slip of the pen in `active.json` is a default in force, and said to be."""
    root = make_host(tmp_path, "G2")
    activate(str(root), BUNDLES["software_dev"], {})
    path = root / ORGANIZATIONS / "active.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["x_orgkernel"] |= {"enforcment": "observe", "on_error": ["refuse"]}
    path.write_text(json.dumps(document), encoding="utf-8")
    shown = run("host", "status", "--agent-zero", root, cwd=tmp_path).stdout
    slips = "`on_error` is `['refuse']`, not one of pass, refuse; unknown setting `enforcment`"
    assert f"bad settings:   {slips}\n" in shown
    assert "on error:       pass\n" in shown


def test_settings_stay_until_others_are_chosen(host: tuple[str, Path]) -> None:
    """Activating a newer version of an organization does not undo what was chosen, by option or by hand."""
    _, root = host
    active = root / ORGANIZATIONS / "active.json"
    activate(str(root), BUNDLES["blank"], {"enforcement": "observe"})
    activate(str(root), BUNDLES["software_dev"], {"on_error": "refuse"})
    settings = read(root, f"{ORGANIZATIONS}/active.json")["x_orgkernel"]
    assert {**settings, "bundle": None} == {
        "enforcement": "observe", "on_error": "refuse", "unlisted_tools": "warn", "examples": "arguments", "bundle": None,
    }  # fmt: skip
    active.write_text(active.read_text().replace('"observe"', '"trim"'))
    report = activate(str(root), BUNDLES["software_dev"], {})
    assert read(root, f"{ORGANIZATIONS}/active.json")["x_orgkernel"]["enforcement"] == "trim"
    assert report.set_aside == f"{ORGANIZATIONS}/active.json.kept"


def test_files_of_others_stay(host: tuple[str, Path]) -> None:
    """A profile or role file of the same name that the user or the host has is neither changed nor removed."""
    generation, root = host
    bundle = BUNDLES["software_dev"]
    theirs = {
        f"{ORGANIZATIONS}/roles/co.json": '{"role_id": "co"}',
        f"{ORGANIZATIONS}/roles/mine.json": "{}",
        f"{PROFILES[generation]}/bugfix_specialist/prompts/agent.system.main.role.md": "mine",
    }
    write_tree(root, theirs)
    before = picture(root)
    report = activate(str(root), bundle, {})
    kept = [f"{ORGANIZATIONS}/roles/co.json"]
    if generation != "G1":  # it has no profiles of ours
        kept.append(f"{PROFILES[generation]}/bugfix_specialist")
    assert report.kept == tuple(sorted(kept, key=lambda path: "roles/" in path))
    assert read_status(str(root)).kept == tuple(kept)
    active, error = find_active(str(root / ORGANIZATIONS))
    assert error is None
    assert active is not None
    assert active.compiled
    assert not [path for path in report.written if "bugfix_specialist/" in path]
    assert {name: picture(root)[name] for name in before} == before
    deactivate(str(root))
    assert picture(root) == before


@pytest.mark.parametrize("generation", ["G2", "G3"])
def test_a_profile_the_host_brings_is_not_shadowed(generation: str, tmp_path: Path) -> None:
    """A role with the name of a stock profile would change this profile for all agents."""
    root = make_host(tmp_path, generation)
    files = {
        "org.yaml": "_schema: orgkernel:organization\norg_id: shop\nhierarchy: {developer: {}}\n",
        "developer.yaml": "_schema: orgkernel:role_profile\nrole_id: developer\ndescription: Writes.\n",
    }
    view = Kernel.open(write_tree(tmp_path / "shop", files)).organization("shop").snapshot.index
    report = activate(str(root), compile_bundle(view, "test"), {})
    assert report.kept == ("usr/agents/developer",)
    assert not (root / "usr/agents").exists()


def test_an_edited_file_is_kept_and_named(host: tuple[str, Path]) -> None:
    """A file of ours that was edited is left where it is, and the report names it."""
    _, root = host
    activate(str(root), BUNDLES["software_dev"], {})
    edited = f"{ORGANIZATIONS}/roles/co.json"
    (root / edited).write_text("{}")
    report = deactivate(str(root))
    assert report.kept == (edited,)
    assert (root / edited).read_text() == "{}"
    assert not (root / ORGANIZATIONS / "active.json").exists()


def test_activating_again_mends_a_bundle(host: tuple[str, Path]) -> None:
    """A bundle that was changed is refused by the host; its name says what has to be in it."""
    _, root = host
    report = activate(str(root), BUNDLES["blank"], {})
    (bundle,) = (root / path for path in report.written if "/bundles/" in path)
    bundle.write_text("{}")
    activate(str(root), BUNDLES["blank"], {})
    assert in_force(root) == ("blank", BUNDLES["blank"]["checksum"])


def test_a_foreign_active_json_is_set_aside(host: tuple[str, Path]) -> None:
    """Neither switching on nor off destroys a file that was copied there by hand."""
    _, root = host
    write_tree(root, {f"{ORGANIZATIONS}/active.json": '{"org_id": "mine"}'})
    report = activate(str(root), BUNDLES["blank"], {})
    assert report.set_aside == f"{ORGANIZATIONS}/active.json.kept"
    deactivate(str(root))
    write_tree(root, {f"{ORGANIZATIONS}/active.json": "broken"})
    assert deactivate(str(root)).set_aside == f"{ORGANIZATIONS}/active.json.kept2"
    assert sorted(path.name for path in (root / ORGANIZATIONS).iterdir()) == [
        "active.json.kept",
        "active.json.kept2",
    ]
    assert (root / ORGANIZATIONS / "active.json.kept").read_text() == '{"org_id": "mine"}'


@contextlib.contextmanager
def stopping(stop_at: int) -> Iterator[None]:
    """Lets some changes of files happen, and none from then on, as if the process was killed."""
    count = itertools.count()

    def counted(change: Callable[..., None]) -> Callable[..., None]:
        def stop_or_change(*arguments: Any, **named: Any) -> None:
            if next(count) >= stop_at:
                raise Crash
            change(*arguments, **named)

        return stop_or_change

    with contextlib.ExitStack() as patches:
        for name in ("replace", "unlink", "rmdir", "mkdir"):
            patches.enter_context(mock.patch.object(os, name, counted(getattr(os, name))))
        yield


@pytest.mark.parametrize(("old", "new"), [(None, "household"), ("blank", "household"), ("blank", None)])
def test_a_crash_leaves_the_old_organization_or_the_new_one(
    old: str | None, new: str | None, tmp_path: Path
) -> None:
    """Wherever it stops, a host loads one whole organization or none, and the next call finishes or takes all back."""
    root = make_host(tmp_path, "G3")
    (root / ORGANIZATIONS).mkdir()
    untouched = picture(root)
    before, after = ((org, BUNDLES[org]["checksum"]) if org else None for org in (old, new))
    seen = set()
    for stop_at in itertools.count():
        if old:
            activate(str(root), BUNDLES[old], {})
        with stopping(stop_at), contextlib.suppress(Crash):
            if new:
                activate(str(root), BUNDLES[new], {})
            else:
                deactivate(str(root))
            break
        seen.add(in_force(root))
        if new and stop_at % 2:
            activate(str(root), BUNDLES[new], {})
            assert in_force(root) == after
        deactivate(str(root))
        assert picture(root) == untouched, stop_at
    assert seen == {before, after}
    assert in_force(root) == after
    assert stop_at > 10


def test_a_folder_that_is_no_host_is_refused(tmp_path: Path) -> None:
    """Nothing is written where no host lies."""
    with pytest.raises(UsageError, match="is not an Agent-Zero folder"):
        activate(str(tmp_path), BUNDLES["blank"], {})
    assert list(tmp_path.iterdir()) == []


def test_a_journal_cannot_lead_out_of_the_host(tmp_path: Path) -> None:
    """Otherwise, a process that writes the journal could have any file removed."""
    root = make_host(tmp_path, "G2")
    outside = tmp_path / "outside"
    outside.write_text("x")
    digest = f"sha256:{hashlib.sha256(b'x').hexdigest()}"
    data = {"_schema": "orgkernel:activation", "files": {"../outside": [digest], str(outside): [digest]}, "folders": [".."]}  # fmt: skip
    write_tree(root, {f"{ORGANIZATIONS}/activation.json": json.dumps(data)})
    deactivate(str(root))
    assert outside.exists()


def test_what_was_compiled_loads_as_documents(tmp_path: Path) -> None:
    """The organization and its roles in the form of the specification pass our own check."""
    for org, bundle in BUNDLES.items():
        folder = tmp_path / org
        files = {f"roles/{role}.json": json.dumps(data["profile"]) for role, data in bundle["roles"].items()}
        write_tree(folder, {"org.json": json.dumps(bundle["organization"]["document"]), **files})
        if org not in ("household", "starship"):  # which declare tools and skills in catalogs of their own
            assert Kernel.open(folder).check() == (), org


def test_the_command_switches_on_and_off_and_says_what_is_on(host: tuple[str, Path], tmp_path: Path) -> None:
    """Activate, status, a changed document, deactivate, through the command line."""
    _, root = host
    copy_template(tmp_path / "work" / "dev", "software_dev")
    work = tmp_path / "work"
    done = run("host", "activate", "software_dev", "--agent-zero", root, "--path", "dev", cwd=work)
    assert done.returncode == 0, done.stderr
    assert f"{ORGANIZATIONS}/active.json" in done.stdout.splitlines()
    assert "software_dev is active with enforcement enforce" in done.stderr
    status = json.loads(run("host", "status", "--agent-zero", root, "--format", "json", cwd=tmp_path).stdout)
    assert (status["on"], status["organization"], status["behind"]) == (False, "software_dev", False)
    assert status["why"] == "the extension is not installed (an organization is active, but has no effect)"
    change_line(work / "dev/roles/bugfix_specialist.yaml", "role_name: Bugfix Specialist", "role_name: Fixer")
    shown = run("host", "status", "--agent-zero", root, cwd=tmp_path).stdout
    assert "(outdated: the documents have changed; activate again)" in shown
    assert run("host", "deactivate", "--agent-zero", root, cwd=tmp_path).returncode == 0
    shown = run("host", "status", "--agent-zero", root, cwd=tmp_path).stdout
    assert shown.startswith("activation:     off: the extension is not installed\n")
    assert (
        run("host", "deactivate", "--agent-zero", root, cwd=tmp_path).stderr == "no organization was active\n"
    )


def test_an_organization_with_errors_is_neither_compiled_nor_activated(tmp_path: Path) -> None:
    """Exit 1 with the findings, and nothing is written."""
    root = make_host(tmp_path, "G3")
    folder = copy_template(tmp_path / "dev", "software_dev")
    (folder / "roles/co.yaml").unlink()
    before = picture(root)
    for command in (
        ["host", "compile", "--agent-zero", "software_dev"],
        ["host", "activate", "software_dev", "--agent-zero", root],
    ):
        done = run(*command, "--path", folder, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert "error[ORG201]" in done.stderr
    assert picture(root) == before


def test_what_a_host_cannot_be_told_is_said(tmp_path: Path) -> None:
    """The host refuses a tool that needs an approval, and a tool that depends on circumstances."""
    policies = (
        "_schema: orgkernel:access_policies\npolicies:\n"
        "  careful: {effect: ask, match: {principal: {role: dev}}, permissions: {tools: [text_editor]}}\n"
        "  grouped: {effect: deny, match: {conditions: [{peer_kind: group}]}, permissions: {tools: [memory_load]}}\n"
    )
    folder = write_tree(tmp_path / "shop", {**SHOP, "policies.yaml": policies})
    done = run("host", "compile", "--agent-zero", "shop", "--path", folder, cwd=tmp_path)
    assert done.stderr.splitlines() == [
        "note: `text_editor`: it needs an approval, which a host cannot ask for, so the host refuses it",
        "note: `memory_load`: it depends on peer_kind:group, which a host does not know, so it is refused there",
    ]
    dev = read_bundle(json.loads(done.stdout)).roles["dev"]
    assert dev.host_tools == {"code_execution_tool", "input", "response"}
    assert dev.tools["text_editor"].ask


def test_a_tool_named_with_a_method_is_said_to_be_kept_to_as_a_whole(tmp_path: Path) -> None:
    """The host asks for `text_editor`. The author who wrote `text_editor:read` wanted to grant less."""
    tools = (
        "_schema: orgkernel:tool_catalog\ntools:\n"
        "  look: {type: computer_use, description: read a file, names: {agent_zero: text_editor:read}}\n"
    )
    org = "_schema: orgkernel:organization\norg_id: desk\norg_name: Desk\nhierarchy: {clerk: {}}\n"
    clerk = "_schema: orgkernel:role_profile\nrole_id: clerk\nrole_type: commander\ncapabilities: {tools_primary: [look]}\n"
    folder = write_tree(tmp_path / "desk", {"org.yaml": org, "roles/clerk.yaml": clerk, "tools.yaml": tools})
    done = run("host", "compile", "--agent-zero", "desk", "--path", folder, cwd=tmp_path)
    assert done.stderr == (
        "note: `look`: the host's name for it has a method, and a host checks only the whole tool, so a role that may call "
        "one method may call all of them; declare the methods as `actions` of one tool\n"
    )


def test_who_stands_in_the_host_activates_a_template(tmp_path: Path) -> None:
    """What activation itself put there is no document to activate again."""
    root = make_host(tmp_path, "G2")
    for _ in range(2):
        done = run("host", "activate", "software_dev", "--agent-zero", ".", cwd=root)
        assert done.returncode == 0, done.stderr
    assert in_force(root) is not None
    status = json.loads(run("host", "status", "--agent-zero", ".", "--format", "json", cwd=root).stdout)
    assert status["behind"] is False
    assert status["source"] is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "active.json cannot be read as JSON"),
        ("[]", "active.json cannot be read as JSON"),
        ("{}", "active.json is not an organization document: it has no `org_id`"),
        ('{"org_id": "a", "x_orgkernel": {"bundle": "bundles/none.json"}}', "the bundle `bundles/none.json` is missing, and roles/ lacks the file of one of its roles; activate the organization again"),
        ('{"org_id": "a", "x_orgkernel": {"bundle": "active.json"}}', "the bundle `active.json` cannot be used: this is not a compiled organization: `_schema` is not `orgkernel:agent_zero_bundle`, and roles/ lacks the file of one of its roles; activate the organization again"),
        ('{"org_id": "a"}', "there is no compiled bundle, and roles/ lacks the file of one of its roles; activate the organization again"),
        ('{"org_id": "a", "hierarchy": {"co": {}}}', "there is no compiled bundle, so the host compiles active.json and roles/*.json itself"),
    ],
)  # fmt: skip
def test_the_status_says_why(tmp_path: Path, text: str, why: str) -> None:
    """Whatever lies there, the answer is a sentence; a host that runs keeps what it has loaded when a file breaks."""
    if "compiles" not in why:
        why += "; a running host keeps the loaded organization until it is restarted"
    root = make_host(tmp_path, "G2")
    write_tree(root, {
        f"{ORGANIZATIONS}/active.json": text,
        f"{ORGANIZATIONS}/roles/co.json": "{}",
        f"{ORGANIZATIONS}/lib/orgkernel_agent_zero/installed.json": json.dumps({"_schema": "orgkernel:installation", "version": "9", "files": {"usr/extensions/agent_init/_12_org_x.py": []}, "folders": []}),
        "usr/extensions/agent_init/_12_org_x.py": "",
        f"{ORGANIZATIONS}/status.json": json.dumps({"last_error": None, "since": None, "loaded": "sha256:1"}),
    })  # fmt: skip
    status = read_status(str(root))
    assert (status.why, status.installed, status.loaded) == (why, "9", "sha256:1")
    assert status.shims == ("usr/extensions/agent_init/_12_org_x.py",)
    assert run("host", "status", "--agent-zero", root, cwd=tmp_path).returncode == 0
    (root / "usr/extensions/agent_init/_12_org_x.py").unlink()
    assert read_status(str(root)).why == "1 installed file of the extension is missing; install it again"


def test_the_status_names_files_that_were_changed_by_hand(host: tuple[str, Path]) -> None:
    """They act as they say, so the bundle of the activation is not in force."""
    _, root = host
    activate(str(root), BUNDLES["software_dev"], {})
    path = root / ORGANIZATIONS / "roles/co.json"
    path.write_text(path.read_text(encoding="utf-8").replace("Commanding", "Humble"), encoding="utf-8")
    assert read_status(str(root)).bundle is None
    shown = run("host", "status", "--agent-zero", root, cwd=root)
    assert shown.returncode == 0
    active, error = find_active(str(root / ORGANIZATIONS))
    assert error is None
    assert active is not None
    assert not active.compiled
    assert active.bundle.roles["co"].role_name == "Humble Officer"
    assert "roles/co.json" in active.remarks[0]
