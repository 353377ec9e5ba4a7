"""Whatever a host lacks, and whatever lies broken on its disk, a turn ends as it would without us."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orgkernel.runtime.bundle import compute_checksum_of
from tests.agent_zero.double import running
from tests.agent_zero.double_loop import Response
from tests.agent_zero.double_prompts import Prompts
from tests.agent_zero.installing import LIBRARY, activate, bundle_file, compiled
from tests.agent_zero.neighbors import add_neighbors
from tests.agent_zero.saying import answer, archived, call, org_lines, reports, shell

BUG = "Fix the bug in parser.py"


@pytest.mark.parametrize("belief", [{"domain": 7}, {}, "bugfix", None])
def test_without_a_belief_that_can_be_read_the_words_decide(started, belief):
    """A store of another form, and a tracker that has none, say nothing about the message."""
    activate(started.root)
    agent = started.host.open_chat()
    agent._bst_store = {"__bst_belief_state__": belief}
    assert started.host.say(agent, BUG) == "done"
    assert agent._org_active_role["role_id"] == "bugfix_specialist"


def test_a_belief_in_something_unknown_is_no_role(started):
    """No role gets a task of a domain that no role handles."""
    activate(started.root)
    agent = started.host.open_chat()
    agent._bst_store = {"__bst_belief_state__": {"domain": "astrology"}}
    assert started.host.say(agent, BUG) == "done"
    assert agent._org_active_role is None


def test_words_of_the_other_vocabulary_are_understood(started):
    """Builds with the compound vocabulary say `coding` and `investigation`."""
    activate(started.root)
    for word, role in (("coding", "codegen_specialist"), ("investigation", "osint_specialist")):
        agent = started.host.open_chat()
        agent._bst_store = {"__bst_belief_state__": {"domain": word, "confidence": 0.7}}
        started.host.say(agent, "Do it")
        assert agent._org_active_role["role_id"] == role


def test_a_host_that_does_not_say_its_model_is_reported_without_it(started):
    """And context fill is unknown, so it neither raises a tier nor restores one."""
    activate(started.root)
    agent = started.host.open_chat()
    agent.config = type("Config", (), {"profile": "agent0"})()
    if started.generation == "G3":
        sys.modules["plugins._model_config.helpers.model_config"].get_chat_model_config = lambda agent: None
    started.host.say(agent, BUG)
    report = reports(started.root)["bugfix_specialist"]
    assert report["environment"]["model"] == ""
    assert report["environment"]["context_tokens_max"] == 0
    assert report["environment"]["context_fill_pct"] == 0


def test_no_key_of_the_configuration_is_ever_written(started):
    """The model's configuration holds keys; a task may hold one too."""
    activate(started.root)
    agent = started.host.open_chat()
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    started.host.say(agent, f"Fix the bug in parser.py with {token}", [shell()])
    written = [
        path for path in (started.root / "usr/organizations").rglob("*.json") if "bundles" not in path.parts
    ]
    texts = [path.read_text(encoding="utf-8") for path in written]
    assert len(texts) > 3
    assert not any(token in text or "sk-never" in text for text in texts)


def test_hooks_without_an_agent_pass(started):
    """Some hooks of the host have none."""
    activate(started.root)
    from usr.organizations.lib.orgkernel_agent_zero import hooks

    for name in hooks.__all__:
        assert getattr(hooks, name)(None, loop_data=None, tool_name="x", msg={}, response=None) is None


def test_a_disk_that_takes_nothing_is_told_once(started):
    """Where a file stands in the place of the reports' folder, and of the status, nothing can be written."""
    activate(started.root)
    (started.root / "usr/organizations/reports").write_text("", encoding="utf-8")
    (started.root / "usr/organizations/status.json").mkdir()
    agent = started.host.open_chat()
    assert started.host.say(agent, BUG, [shell("ls", number) for number in range(6)]) == "done"
    lines = org_lines(agent)
    assert len([line for line in lines if "SALUTE report not written" in line]) == 1
    assert len([line for line in lines if "status.json cannot be written" in line]) == 1
    assert agent._org_active_role["role_id"] == "bugfix_specialist"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"org_id": 7}', "org_id: software_dev", "\x00", '{"a":' * 2000]
)
def test_an_active_file_that_cannot_be_read_is_off_and_told_once(started, text):
    """The chat says so once, and the status keeps it."""
    activate(started.root)
    (started.root / "usr/organizations/active.json").write_text(text, encoding="utf-8")
    agent = started.host.open_chat()
    assert started.host.say(agent, BUG, [shell(), answer()]) == "done"
    assert not hasattr(agent, "_org_active_role")
    assert len(org_lines(agent)) == 1
    assert "active.json" in org_lines(agent)[0]
    status = json.loads((started.root / "usr/organizations/status.json").read_text(encoding="utf-8"))
    assert "active.json" in status["last_error"]
    assert status["since"].endswith("Z")


def test_an_edit_that_breaks_leaves_the_last_good_organization(started):
    """And a mended file is read at once; the status no longer speaks of it."""
    activate(started.root)
    active = started.root / "usr/organizations/active.json"
    good = active.read_text(encoding="utf-8")
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    active.write_text("{", encoding="utf-8")
    started.host.say(agent, "Put it on a git branch and commit")
    assert agent._org_active_role["role_id"] == "devops_specialist"
    active.write_text(good, encoding="utf-8")
    started.host.say(agent, BUG)
    said = [line for line in org_lines(agent) if "is not valid JSON" in line]
    assert len(said) == 1
    assert said[0].endswith("; the organization loaded before stays active")
    status = json.loads((started.root / "usr/organizations/status.json").read_text(encoding="utf-8"))
    assert status["last_error"] is None


@pytest.mark.parametrize("break_it", ["changed", "changed with its checksum", "missing", "other", "outside"])
def test_a_bundle_that_cannot_be_trusted_is_not_used(started, break_it):
    """Changed after it was compiled, gone, of another organization, or outside our folder: then the files count."""
    activate(started.root)
    folder = started.root / "usr/organizations"
    bundle = bundle_file(started.root)
    if break_it == "changed":
        bundle.write_text(bundle.read_text(encoding="utf-8").replace("Bugfix", "Bagfix"), encoding="utf-8")
    elif break_it == "changed with its checksum":
        give_every_tool(bundle)
    elif break_it == "missing":
        bundle.unlink()
    elif break_it == "other":
        bundle.write_text(json.dumps(compiled("sigint_alpha")), encoding="utf-8")
    else:
        active = json.loads((folder / "active.json").read_text(encoding="utf-8"))
        active["x_orgkernel"]["bundle"] = "../../bundle.json"
        (folder / "active.json").write_text(json.dumps(active), encoding="utf-8")
    agent = started.host.open_chat()
    assert started.host.say(agent, BUG, [call("browser_agent"), answer()]) == "done"
    assert agent._org_active_role["role_name"] == "Bugfix Specialist"
    assert [tool for _, tool in started.host.ran] == ["response"]
    assert org_lines(agent)[0].startswith("The bundle ")
    assert org_lines(agent)[1].startswith("The organization is compiled from active.json and roles/*.json")


def give_every_tool(bundle: Path) -> None:
    """Edit a bundle as an attacker does: all roles get a tool of the host, and the checksum fits again."""
    data = json.loads(bundle.read_text(encoding="utf-8"))
    for role in data["roles"].values():
        role["host_tools"] = [*role["host_tools"], "browser_agent"]
    bundle.write_text(json.dumps(data | {"checksum": compute_checksum_of(data)}), encoding="utf-8")


def rewrite_active(folder: Path, **settings: str) -> None:
    active = folder / "active.json"
    document = json.loads(active.read_text(encoding="utf-8"))
    document["x_orgkernel"].update(settings)
    active.write_text(json.dumps(document), encoding="utf-8")


def _give_role_more(folder: Path) -> None:
    path = folder / "roles/bugfix_specialist.json"
    profile = json.loads(path.read_text(encoding="utf-8"))
    profile["capabilities"]["tools_primary"].append("browser_agent")
    path.write_text(json.dumps(profile), encoding="utf-8")


TAMPERING: dict[str, Callable[[Path], object]] = {
    "removed": lambda folder: (folder / "active.json").unlink(),
    "renamed, as when it is switched off": lambda folder: (folder / "active.json").rename(
        folder / "active.json.off"
    ),
    "broken": lambda folder: (folder / "active.json").write_text("{", encoding="utf-8"),
    "a folder": lambda folder: ((folder / "active.json").unlink(), (folder / "active.json").mkdir()),
    "weaker": lambda folder: rewrite_active(folder, enforcement="observe", on_error="pass"),
    "another organization": lambda folder: (folder / "active.json").write_text(
        '{"org_id": "mine", "hierarchy": {"one": {}}}', encoding="utf-8"
    ),
    "a role with more": _give_role_more,
    "a bundle with more": lambda folder: give_every_tool(bundle_file(folder.parent.parent)),
    "no bundle": lambda folder: bundle_file(folder.parent.parent).unlink(),
}


@pytest.mark.parametrize("tampering", TAMPERING)
@pytest.mark.parametrize("was_loaded", [False, True])
def test_what_the_environment_names_is_the_only_organization(
    root, generation, monkeypatch, tampering, was_loaded
):
    """Whatever an agent does to the files, no call runs that the organization of the operator would refuse. If the files were changed
    before the host started, only `response` runs.
    """
    activate(root, on_error="pass")
    folder = root / "usr/organizations"
    digest = hashlib.sha256((folder / "active.json").read_bytes()).hexdigest()
    monkeypatch.setenv("ORGKERNEL_ACTIVE", digest)
    turns = [call("browser_agent"), shell("ls"), answer()]
    with running(root, generation, fresh=True) as host:
        if was_loaded:
            assert host.say(host.open_chat(), BUG, turns) == "done"
            assert [tool for _, tool in host.ran] == ["code_execution_tool", "response"]
        TAMPERING[tampering](folder)
        host.ran = []
        agent = host.open_chat()
        assert host.say(agent, BUG, turns) == "done"
        ran = [tool for _, tool in host.ran]
        assert ran == (["code_execution_tool", "response"] if was_loaded else ["response"])
        assert org_lines(agent)


def test_a_file_of_variables_does_not_change_what_the_environment_names(root):
    """Hosts load such a file before the extension, and the agent can edit it. The environment with which the process was started decides."""
    program = (
        f"import os, sys; sys.path.insert(0, {str(root)!r}); os.environ['ORGKERNEL_ACTIVE'] = 'b' * 64\n"
        "from usr.organizations.lib.orgkernel_agent_zero import organization\n"
        "print(organization.is_pinned(), organization._pin)"
    )
    command = [sys.executable, "-S", "-B", "-c", program]
    for initial, expected in (({"ORGKERNEL_ACTIVE": "a" * 64}, "a" * 64), ({}, "b" * 64)):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=initial)
        assert done.stdout.strip() == f"True {expected}", done.stderr


def test_an_error_of_the_extension_refuses_if_the_environment_names_an_organization(
    root, generation, monkeypatch
):
    """Wherever it happens, before or after the organization was read."""
    activate(root, on_error="pass")
    content = (root / "usr/organizations/active.json").read_bytes()
    monkeypatch.setenv("ORGKERNEL_ACTIVE", hashlib.sha256(content).hexdigest())
    with running(root, generation, fresh=True) as host:
        from usr.organizations.lib.orgkernel_agent_zero import calls, guarding

        for module, name in ((calls, "_judge"), (guarding, "find_active"), (guarding, "get_memory")):
            host.ran = []
            with monkeypatch.context() as patch:
                patch.setattr(module, name, lambda *_, **__: 1 / 0)
                assert host.say(host.open_chat(), BUG, [call("browser_agent"), answer()]) == "done"
            assert [tool for _, tool in host.ran] == ["response"], name


def test_a_setting_that_is_no_word_is_told_and_its_default_used(started):
    """A slip of the pen never switches enforcement off in silence."""
    activate(started.root, enforcement="enforced", on_error="panic")
    path = started.root / "usr/organizations/active.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"unlisted_tools"', '"unlisted_tool"'), encoding="utf-8")
    agent = started.host.open_chat()
    started.host.say(agent, BUG, [call("browser_agent"), answer()])
    assert [tool for _, tool in started.host.ran] == ["response"]
    assert (
        "`enforcement` is `enforced`, not one of observe, trim, enforce; the default enforce is used"
        in org_lines(agent)
    )
    assert "`on_error` is `panic`, not one of pass, refuse; the default pass is used" in org_lines(agent)
    names = "enforcement, on_error, unlisted_tools, examples, bundle"
    assert (
        f"`x_orgkernel` has an unknown setting `unlisted_tool`, which has no effect; settings are {names}"
        in org_lines(agent)
    )


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("Deploy the container", "the message says `deploy`, `container` and is about `docker_ops`"),
        ("Ask the DevOps Specialist to have a look", "the message asks devops_specialist by name"),
    ],
)
def test_the_log_says_what_in_the_message_chose_the_role(started, message, why):
    """Words that stand in it and the kind of work, or the name of the role."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, message, [answer()])
    assert org_lines(agent)[0].endswith(why)


def test_two_agents_of_one_chat_keep_apart(started):
    """Counters, role and tier of the subordinate are its own."""
    activate(started.root)
    agent = started.host.open_chat()
    agent.config.profile = "engineering_xo"
    started.host.tools["code_execution_tool"] = lambda **_: Response("cat: x: No such file or directory")
    inner = [shell("cat", number) for number in range(4)]
    turns = [call("call_subordinate", message=BUG, reset="true"), *inner, answer("no luck"), answer("ended")]
    started.host.say(agent, "See to it", turns)
    below = agent.data["_subordinate"]
    assert below._org_active_role["role_id"] == "bugfix_specialist"
    assert below._org_pace_level == "alternate"
    assert agent._org_pace_level == "primary"
    assert reports(started.root)["bugfix_specialist"]["unit"]["agent_number"] == 1
    assert reports(started.root)["engineering_xo"]["environment"]["tool_failures_total"] == 0


def test_a_chat_that_is_loaded_again_begins_anew(started):
    """Attributes and keys with an underscore are gone; the next message brings them back."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    json.dumps({key: value for key, value in agent.data.items() if not key.startswith("_")})
    again = started.host.open_chat()
    again.data = {key: value for key, value in agent.data.items() if not key.startswith("_")}
    again.history = agent.history
    started.host.say(again, "Fix the bug in lexer.py", [shell(), answer()])
    assert again._org_active_role["role_id"] == "bugfix_specialist"


def test_context_that_fills_up_escalates_by_the_real_window(started):
    """The window is the model's, not a neighbor's assumption."""
    activate(started.root)
    started.host.window = 3_000
    agent = started.host.open_chat()
    if started.generation != "G3":
        agent.config.chat_model.ctx_length = 3_000
    started.host.say(agent, BUG, [shell("x" * 9_000, 1), shell("ls", 2), answer()])
    assert any("context_fill" in line and "contingent" in line for line in org_lines(agent))
    assert archived(started.root)[-1]["environment"]["context_fill_pct"] > 85


def test_an_organization_copied_by_hand_works_without_a_bundle(started):
    """Roles, tools, plans and reports work, and it says what does not."""
    bundle = compiled("sigint_alpha")
    folder = started.root / "usr/organizations"
    (folder / "roles").mkdir(parents=True)
    (folder / "active.json").write_text(json.dumps(bundle["organization"]["document"]), encoding="utf-8")
    for role_id, role in bundle["roles"].items():
        (folder / "roles" / f"{role_id}.json").write_text(json.dumps(role["profile"]), encoding="utf-8")
    add_neighbors(started.root, started.generation)
    agent = started.host.open_chat()
    calls = [call("search_engine", query="x"), call("scheduler:list"), answer()]
    started.host.say(agent, "Find out who owns the company", calls)
    assert agent._org_active_role["role_id"] == "sigint_specialist"
    assert agent.get_data("_org_htn_allowed_plans") == bundle["roles"]["sigint_specialist"]["plans"]
    assert [tool for _, tool in started.host.ran] == ["search_engine", "response"]
    assert (
        len([line for line in org_lines(agent) if line.startswith("The organization is compiled from")]) == 1
    )
    assert reports(started.root)["sigint_specialist"]["unit"]["organization"] == "sigint_alpha"


@pytest.mark.parametrize(
    ("routing", "taker"),
    [({}, "first"), ({"bugfix": ["nobody", "second", "first"]}, "second"), ({"bugfix": "second"}, "first")],
)
def test_an_organization_copied_by_hand_is_routed_as_it_says(started, routing, taker):
    """Among equals `domain_routing` decides, as it does in a compiled organization; of another form it is passed over."""
    folder = started.root / "usr/organizations"
    (folder / "roles").mkdir(parents=True)
    document = {"org_id": "mine", "hierarchy": {"first": {}, "second": {}}, "domain_routing": routing}
    (folder / "active.json").write_text(json.dumps(document), encoding="utf-8")
    for role_id in document["hierarchy"]:
        profile = {"role_id": role_id, "role_type": "specialist", "capabilities": {"bst_domains": ["bugfix"]}}
        (folder / "roles" / f"{role_id}.json").write_text(json.dumps(profile), encoding="utf-8")
    add_neighbors(started.root, started.generation)
    agent = started.host.open_chat()
    started.host.say(agent, BUG, [shell(), answer()])
    assert agent._org_active_role["role_id"] == taker


def test_an_organization_copied_by_hand_finds_a_bundle_that_was_installed(started):
    """The installer brings compiled bundles of the templates; then it is as if it had been activated."""
    bundle = compiled("software_dev")
    folder = started.root / "usr/organizations"
    (folder / "bundles").mkdir(parents=True)
    (folder / "bundles/software_dev.json").write_text(json.dumps(bundle), encoding="utf-8")
    (folder / "active.json").write_text(json.dumps(bundle["organization"]["document"]), encoding="utf-8")
    agent = started.host.open_chat()
    started.host.say(agent, BUG, [call("browser_agent"), answer()])
    assert [tool for _, tool in started.host.ran] == ["response"]


def test_role_files_that_are_missing_or_broken_are_told_and_the_rest_works(started):
    """One broken file does not take the organization down."""
    bundle = compiled("software_dev")
    folder = started.root / "usr/organizations"
    (folder / "roles").mkdir(parents=True)
    document = dict(bundle["organization"]["document"])
    document["hierarchy"] = {**document["hierarchy"], "../../etc/passwd": {}}
    (folder / "active.json").write_text(json.dumps(document), encoding="utf-8")
    for role_id, role in bundle["roles"].items():
        text = "{" if role_id == "co" else json.dumps(role["profile"])
        if role_id != "osint_specialist":
            (folder / "roles" / f"{role_id}.json").write_text(text, encoding="utf-8")
    agent = started.host.open_chat()
    agent._bst_store = {"__bst_belief_state__": {"domain": "bugfix"}}
    started.host.say(agent, BUG)
    assert agent._org_active_role["role_id"] == "bugfix_specialist"
    lines = org_lines(agent)
    assert any(line.startswith("Role co is left out; co.json is not valid JSON") for line in lines)
    assert "Role osint_specialist is left out; roles/osint_specialist.json is missing" in lines


def test_a_missing_library_is_a_pass_through_told_once(started):
    """Shims whose library was deleted do nothing, and say so in the log of the chat."""
    import shutil

    activate(started.root)
    shutil.rmtree(started.root / LIBRARY)
    agent = started.host.open_chat()
    assert started.host.say(agent, BUG, [call("browser_agent"), answer()]) == "done"
    assert [tool for _, tool in started.host.ran] == ["browser_agent", "response"]
    assert org_lines(agent)[0].startswith("orgkernel cannot run here")
    assert len(org_lines(agent)) == 1


def test_the_adapter_needs_nothing_but_the_standard_library(root, generation):
    """It is imported in a Python without any installed package."""
    program = f"import sys; sys.path.insert(0, {str(root)!r})\nfrom usr.organizations.lib.orgkernel_agent_zero import hooks\nprint(len(hooks.__all__))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "11", done.stderr


def test_a_file_that_changes_while_it_is_read_is_read_again(started, monkeypatch):
    """What was written between reading and looking is not missed."""
    activate(started.root)
    path = started.root / "usr/organizations/active.json"
    text = path.read_text(encoding="utf-8")
    from usr.organizations.lib.orgkernel_agent_zero import organization

    read = organization._read_json

    def read_and_change(file, *most):
        found = read(file, *most)
        if file == str(path) and "observe" not in path.read_text(encoding="utf-8"):
            path.write_text(text.replace('"enforce"', '"observe"'), encoding="utf-8")
        return found

    monkeypatch.setattr(organization, "_read_json", read_and_change)
    assert [organization.find_active()[0].settings.enforcement for _ in range(2)] == ["enforce", "observe"]


def test_files_are_read_again_only_when_they_change(started, monkeypatch):
    """A model call reads no organization file; the host's prompt files are read once a task."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG, [shell("ls", number) for number in range(3)])
    from usr.organizations.lib.orgkernel_agent_zero import organization

    opened = []
    monkeypatch.setattr(organization, "read_json", opened.append)
    before = started.host.prompts.reads
    started.host.say(agent, "and again for it", [shell("ls", number) for number in range(5)])
    calls = len(started.host.seen) - 4
    own = len(Prompts(started.root, started.generation).tool_files(agent)) + 3
    assert opened == []
    assert started.host.prompts.reads - before <= (calls + 1) * own


def test_nothing_is_kept_on_an_extension_object(started):
    """The host makes a new one for every call."""
    activate(started.root)
    agent = started.host.open_chat()
    started.host.say(agent, BUG)
    for classes in started.host.loader._classes.values():
        for _, found in classes:
            if found.__name__.startswith("Org"):
                made = found(agent=agent)
                assert set(vars(made)) == {"agent", "kwargs"}
                assert not [name for name in vars(found) if not name.startswith("__") and name != "execute"]


def test_an_error_that_quotes_a_secret_is_told_without_it(started, monkeypatch):
    """The error is in the chat and in the status, which every user of the machine may read."""
    activate(started.root)
    agent = started.host.open_chat()
    from usr.organizations.lib.orgkernel_agent_zero import choosing

    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    monkeypatch.setattr(choosing.reading, "read_profile", lambda _: {}[token])
    assert started.host.say(agent, BUG) == "done"
    path = started.root / "usr/organizations/status.json"
    told = str(agent.context.log.entries) + path.read_text(encoding="utf-8")
    assert "KeyError" in told
    assert token not in told
    usual = started.root / "usual"
    usual.touch()
    assert path.stat().st_mode == usual.stat().st_mode


def test_an_error_before_the_memory_of_the_agent_is_read_refuses(root, generation):
    """With `on_error: refuse`, a call that nothing judged does not run, although no error is in the memory of the agent."""
    activate(root, on_error="refuse")
    with running(root, generation, fresh=True) as host:
        from usr.organizations.lib.orgkernel_agent_zero import guarding

        for name in ("find_active", "get_memory"):
            host.ran = []
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(guarding, name, lambda *_, **__: 1 / 0)
                assert host.say(host.open_chat(), BUG, [call("browser_agent"), answer()]) == "done"
            assert [tool for _, tool in host.ran] == ["response"], name
