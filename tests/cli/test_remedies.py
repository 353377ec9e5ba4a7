"""Every remedy of a denial is carried out as it is printed, and the question asked again is allowed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from orgkernel.rules.catalog import list_rules
from tests.reference.access_worlds import WorldMaker, documents_of
from tests.support.in_process import run_here as run
from tests.support.trees import write_tree
from tests.support.yaml_text import read_yaml

FILES = {
    "org.yaml": """\
_schema: orgkernel:organization
org_id: shop
limits: {delegation: strict}
hierarchy:
  head: {subordinates: [boss, clerk]}
  boss: {subordinates: [hand, guard]}
departments: {lab: {}}
---
_schema: orgkernel:rank_ladder
ranks:
  - id: ensign
  - id: senior
    trust_from: 0.7
---
_schema: orgkernel:tool_catalog
tools:
  mail: {type: communication, side_effects: write}
  scan: {type: browser, departments: [lab], rank_matrix: {senior: full}}
  press: {type: browser, concurrency: exclusive, lock_timeout_seconds: 60, side_effects: write}
  vault: {type: browser, restricted_to: [guard]}
---
_schema: orgkernel:directory
people:
  ann: {relationship: friend}
  bob: {relationship: work, tags: [club]}
---
_schema: orgkernel:access_policies
policies:
  friends: {effect: allow, match: {principal: {relationship: friend}}, permissions: {tools: [mail]}}
  no_vault: {effect: deny, match: {principal: {relationship: friend}}, permissions: {tools: [vault]}}
  group: {effect: deny, match: {conditions: [{peer_kind: group}]}, permissions: {tools: [mail]}}
  pay: {effect: ask, match: {principal: {agent: one}}, permissions: {tools: [press]}}
""",
    "crew.yaml": """\
_schema: orgkernel:crew_roster
agents:
  one: {assignments: [{role: hand}]}
  two:
    assignments:
      - role: hand
""",
    "roles/boss.yaml": """\
_schema: orgkernel:role_profile
role_id: boss
role_type: executive
capabilities:
  tools_primary: [mail]
""",
    "roles/hand.yaml": """\
_schema: orgkernel:role_profile
role_id: hand
department: lab
capabilities: {tools_primary: [mail, press]}
""",
    "roles/head.yaml": "{_schema: 'orgkernel:role_profile', role_id: head, role_type: commander}\n",
    "roles/clerk.yaml": "{_schema: 'orgkernel:role_profile', role_id: clerk}\n",
    "roles/guard.yaml": """\
_schema: orgkernel:role_profile
role_id: guard
capabilities: {tools_primary: [vault, scan]}
""",
}
SETTINGS = "[severities]\n" + "".join(f'{rule.code} = "off"\n' for rule in list_rules())
QUESTIONS: list[tuple[str, list[tuple[str, ...]], tuple[str, ...]]] = [
    ("a tool that nobody gave", [], ("agent:one", "use", "tool:scan")),
    ("a rank and a department", [("grant", "issue", "agent:two", "tool:scan", "--level", "read")], ("agent:two", "use", "tool:scan")),
    ("a role", [], ("role:boss", "use", "tool:scan")),
    ("a tool for others", [], ("agent:one", "use", "tool:vault")),
    ("a person", [], ("person:bob", "use", "tool:mail")),
    ("a policy that denies", [], ("person:ann", "use", "tool:vault")),
    ("a circumstance", [], ("agent:one", "use", "tool:mail")),
    ("a lock", [], ("agent:two", "use", "tool:press")),
    ("a lock in other hands", [("lock", "acquire", "shop", "press", "agent:two")], ("agent:one", "use", "tool:press")),
    ("a part of an exclusive tool", [], ("person:bob", "use", "tool:press:/tmp/x")),
    ("a part of an exclusive tool, with an approval", [], ("agent:one", "use", "tool:press:/tmp/x")),
    ("a restriction", [("restriction", "issue", "role:hand", "tool:mail", "--level", "read")], ("agent:one", "use", "tool:mail")),
    ("a restriction of a tag", [("restriction", "issue", "tag:club", "tool:mail")], ("person:bob", "use", "tool:mail")),
    ("a suspension", [("agent", "move", "one", "suspended")], ("agent:one", "use", "tool:mail")),
    ("somebody else's suspension", [("agent", "move", "two", "suspended")], ("agent:one", "use", "tool:mail", "--via", "agent:two")),
    ("whom it acts for", [], ("agent:one", "use", "tool:mail", "--on-behalf-of", "person:bob")),
    ("a sender above", [], ("agent:one", "use", "tool:press", "--via", "role:boss")),
    ("a hand-off", [], ("role:boss", "handoff", "role:clerk")),
]  # fmt: skip


@pytest.mark.parametrize(("before", "asked"), [pytest.param(*rest, id=name) for name, *rest in QUESTIONS])
def test_a_remedy_does_what_it_says(
    tmp_path: Path, before: list[tuple[str, ...]], asked: tuple[str, ...]
) -> None:
    """Its commands run, its edits are made where it says, and then the request is allowed."""
    found = remedies(there(tmp_path / "first", FILES, before), asked)
    assert found
    for number, remedy in enumerate(found):
        home = there(tmp_path / str(number), FILES, before)
        # Restrictions have names of their own in each store.
        (same,) = [each for each in remedies(home, asked) if shape(each) == shape(remedy)]
        carry_out(home, same)
        done = run("can", *asked, *stated(same), "--org", "shop", cwd=home)
        assert done.returncode == 0, (same, done.stdout, done.stderr)


def test_remedies_of_generated_organizations_are_commands_that_run(tmp_path: Path) -> None:
    """None is refused, and what needs no edit allows the request. At some times of day a single one may have none to try."""
    assert sum(try_remedies(tmp_path / str(seed), seed) for seed in range(4)) > 0


def try_remedies(folder: Path, seed: int) -> int:
    """Carry out the remedies of a generated organization; how many."""
    maker = WorldMaker(seed, plain=True)
    world = maker.world()
    files = {path.removeprefix("/t/o/"): json.dumps(text) for path, text in documents_of(world).items()}
    tried = 0
    for number in range(4):
        asked = maker.request(world)
        question = (asked["subject"], asked["action"], asked["resource"])
        context = json.dumps({name: value for name, value in asked["context"].items() if name != "now"})
        home = there(folder / str(number), files, [])
        for place, remedy in enumerate(remedies(home, (*question, "--context", context), "o")[:3]):
            kinds = {change["kind"] for change in remedy["changes"]}
            # A test needs its evidence, and which command or arguments will be stated is the caller's to say.
            if remedy["edits"] or kinds & {"qualification", "other_command", "other_input"}:
                continue
            again = there(folder / f"{number}-{place}", files, [])
            carry_out(again, remedy)
            told = {**json.loads(context), **dict.fromkeys(names(remedy), "")}
            done = run("can", *question, "--context", json.dumps(told), "--org", "o", cwd=again)
            assert done.returncode == 0, (question, remedy, done.stdout, done.stderr)
            tried += 1
    return tried


def test_a_stranger_is_to_be_declared(tmp_path: Path) -> None:
    """And is given nothing: whatever a stranger is given, every stranger has."""
    home = there(tmp_path, FILES, [])
    done = run("can", "sender:slack/club/U1", "use", "tool:mail", "--org", "shop", cwd=home)
    assert done.stdout.splitlines()[-2:] == [
        "  would be allowed by: declare `sender:slack/club/U1`",
        "      org.yaml:23: write `identities: [{platform: slack, space: club, id: U1}]` under `people.PERSON`",
    ]
    for subject, line in (
        ("person:zoe", "org.yaml:23"),
        ("agent:zoe", "crew.yaml:2"),
        ("role:zoe", "org.yaml:4"),
    ):
        said = run("can", subject, "use", "tool:mail", "--org", "shop", cwd=home).stdout
        assert f"would be allowed by: declare `{subject}`\n      {line}: write `zoe: " in said


def test_what_opens_more_says_so(tmp_path: Path) -> None:
    """What opens least comes first, the removal of a policy last; what else it would open is counted."""
    files = FILES | {"org.yaml": FILES["org.yaml"].replace("tools: [vault]", "tools: [vault, mail]")}
    found = remedies(there(tmp_path / "policy", files, []), ("person:ann", "use", "tool:vault"))
    assert [each["text"] for each in found] == [
        "grant `tool:vault` at level `read`, waiving restricted_to and remove policy `no_vault`"
    ]
    assert found[0]["opens"] == "would also allow 1 other request"
    everybody = {"org.yaml": FILES["org.yaml"].replace("match: {conditions: [{peer_kind: group}]}, ", "")}
    found = remedies(there(tmp_path / "all", FILES | everybody, []), ("agent:one", "use", "tool:mail"))
    assert [(each["text"], each["opens"]) for each in found] == [
        ("remove policy `group`", "would also allow 4 other requests by 4 subjects")
    ]
    promoted = there(
        tmp_path / "rank", FILES, [("grant", "issue", "agent:one", "tool:scan", "--level", "full")]
    )
    found = remedies(promoted, ("agent:one", "use", "tool:scan"))
    assert [change["kind"] for each in found for change in each["changes"]] == ["grant", "rank"]


# -- carrying it out ---------------------------------------------------------------------------------------------------


def there(folder: Path, files: dict[str, str], before: list[tuple[str, ...]]) -> Path:
    """A project in which some commands have run."""
    # Organizations that are made to be refused in have findings.
    write_tree(folder, files | {"orgkernel.toml": SETTINGS})
    (folder / ".orgkernel").mkdir(exist_ok=True)
    for words in before:
        done = run(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


def remedies(home: Path, asked: tuple[str, ...], org: str = "shop") -> list[dict[str, Any]]:
    """The remedies of a question."""
    done = run("can", *asked, "--org", org, "--format", "json", cwd=home)
    assert done.stdout, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["remedies"]
    return found


def shape(remedy: dict[str, Any]) -> list[tuple[str, str]]:
    """What remedies have in common that differ only in the names of stored rows."""
    return [(each["kind"], "" if each["kind"] == "lift" else str(each)) for each in remedy["changes"]]


def names(remedy: dict[str, Any]) -> list[str]:
    """The circumstances that have to be stated."""
    return [
        name
        for change in remedy["changes"]
        if change["kind"] == "state"
        for name in change["value"].split(",")
    ]


def stated(remedy: dict[str, Any]) -> list[str]:
    """The circumstances a remedy names, as there being none."""
    found = names(remedy)
    return ["--context", json.dumps(dict.fromkeys(found, ""))] if found else []


def carry_out(home: Path, remedy: dict[str, Any]) -> None:
    """Run the commands as they are printed, and make the edits."""
    for edit in remedy["edits"]:
        write(home / edit["file"], edit)
    for command in remedy["commands"]:
        program, *words = shlex.split(command)
        assert program == "orgkernel"
        done = run(*words, cwd=home)
        assert done.returncode in ((0, 1) if words[0] == "can" else (0,)), (command, done.stderr)


def write(path: Path, edit: dict[str, Any]) -> None:
    """Make an edit: an item of a list or a field, under what it says."""
    documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
    first = edit["under"].split(".")[0]
    written = edit["write"]
    (document,) = [each for each in documents if first in each or len(documents) == 1] or documents[:1]
    inside: Any = document
    *way, last = edit["under"].split(".") if edit["under"] else [""]
    for step in way:
        inside = inside.setdefault(step, {})
    if written.startswith("- "):
        inside.setdefault(last, []).append(read_yaml(written[2:]))
    else:
        (inside.setdefault(last, {}) if last else inside).update(read_yaml(written))
    path.write_text(yaml.safe_dump_all(documents, sort_keys=False), encoding="utf-8")
