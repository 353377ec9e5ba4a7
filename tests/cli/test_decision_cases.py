"""`orgkernel test`: a user's own expectations, and where they fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import SHOP
from tests.support.in_process import run_here as run
from tests.support.trees import write_tree

CASES = """\
_schema: orgkernel:decision_cases
cases:
  - name: code goes to the developer
    org: shop
    dispatch:
      - ask: {domain: codegen}
        outcome: role
        role_id: dev
        plans: [codegen_module]
        tools: [code_execution_tool, text_editor, memory_load]
        because: [HANDLES_DOMAIN, ONLY_CANDIDATE]
      - ask: {domain: osint}
        outcome: not_applicable
"""
WRONG = """\
_schema: orgkernel:decision_cases
cases:
  - name: all wrong
    org: shop
    dispatch:
      - ask: {domain: codegen}
        outcome: not_applicable
      - ask: {domain: osint}
        outcome: role
        role_id: dev
      - ask:
          domain: docker_ops
        outcome: role
        role_id: dev
        plans:
          - codegen_module
        tools: []
        because: [HANDLES_DOMAIN]
  - name: asked of another organization
    org: shpo
    dispatch:
      - ask: {domain: codegen}
        outcome: role
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", SHOP | {"cases.yaml": CASES, "wrong.yaml": WRONG})


def test_expectations_that_hold_exit_0(shop: Path) -> None:
    """Nothing on stdout; the count is talk."""
    done = run("test", "cases.yaml", cwd=shop)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "2 passed, 0 failed\n")


def test_failures_stand_at_the_line_that_expects_otherwise(shop: Path) -> None:
    """The file and line of the case, the question, what was answered and why."""
    done = run("test", "wrong.yaml", cwd=shop)
    assert done.returncode == 1
    assert done.stdout == (
        "wrong.yaml:7:18: all wrong: dispatch codegen in shop: the outcome is `role` (`dev`), not `not_applicable`, "
        "because role `dev` handles domain `codegen`; no other role can take this task\n"
        "wrong.yaml:9:18: all wrong: dispatch osint in shop: the outcome is `not_applicable`, not `role`, "
        "because no role handles domain `osint`\n"
        "wrong.yaml:14:18: all wrong: dispatch docker_ops in shop: the role is `ops`, not `dev`, because role "
        "`ops` handles domain `docker_ops`; no other role can take this task\n"
        "wrong.yaml:16:11: all wrong: dispatch docker_ops in shop: the plans are [], not [codegen_module]\n"
        "wrong.yaml:17:16: all wrong: dispatch docker_ops in shop: the tools are [code_execution_tool], not []\n"
        "wrong.yaml:18:18: all wrong: dispatch docker_ops in shop: the reasons are [HANDLES_DOMAIN, ONLY_CANDIDATE], "
        "not [HANDLES_DOMAIN]\n"
        "wrong.yaml:20:10: asked of another organization: dispatch codegen in shpo: there is no organization `shpo`\n"
    )
    assert done.stderr == "0 passed, 4 failed\n"


def test_several_files_count_together_and_json_lists_every_expectation(shop: Path) -> None:
    """Passed ones too, so that a report can be made of it."""
    done = run("test", "cases.yaml", "wrong.yaml", "--format", "json", cwd=shop)
    listed = json.loads(done.stdout)
    assert done.returncode == 1
    assert [each["passed"] for each in listed] == [True, True, False, False, False, False]
    assert listed[0] == {
        "case": "code goes to the developer", "question": "dispatch codegen in shop", "passed": True, "failures": [],
    }  # fmt: skip
    assert {key: listed[2]["failures"][0][key] for key in ("file", "line", "column")} == {
        "file": "wrong.yaml", "line": 7, "column": 18,
    }  # fmt: skip
    assert done.stderr == "2 passed, 4 failed\n"


def test_cases_may_lie_elsewhere_than_their_organization(shop: Path, tmp_path: Path) -> None:
    """`--path` says where the organizations are; a folder of cases is read whole."""
    write_tree(tmp_path, {"expectations/first.yaml": CASES, "expectations/second.yaml": CASES})
    done = run("test", "expectations", "--path", "shop", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "4 passed, 0 failed\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("_schema: orgkernel:decision_cases\ncases: [\n", "error[ORG005]"),
        (CASES.replace("outcome: role", "outcome: rol"), "error[ORG104]"),
        (CASES.replace("    org: shop\n", ""), "error[ORG101]"),
        ("", "error[ORG004]"),
        ("_schema: orgkernel:domain_catalog\n", "these files contain no decision cases"),
    ],
)
def test_cases_that_cannot_be_read_are_exit_2(shop: Path, text: str, message: str) -> None:
    """With what is wrong and where on stderr: no expectation was tested, so none failed."""
    write_tree(shop, {"cases.yaml": text})
    done = run("test", "cases.yaml", cwd=shop)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_names_of_cases_do_not_drive_the_terminal(shop: Path) -> None:
    """What a file calls a case is shown, not sent."""
    write_tree(shop, {"wrong.yaml": WRONG.replace("name: all wrong", 'name: "all\\e[31m\\nwrong"')})
    for form in ("text", "json"):
        done = run("test", "wrong.yaml", "--format", form, cwd=shop)
        assert done.returncode == 1
        assert "\x1b" not in done.stdout
    assert "all\\x1b[31m\\nwrong" in run("test", "wrong.yaml", cwd=shop).stdout


def test_a_case_asks_exactly_one_of_domain_intent_and_text(shop: Path) -> None:
    """Sentences and intents are expectations like domains; a question with two of them has no answer."""
    cases = """\
_schema: orgkernel:decision_cases
cases:
  - name: sentences
    org: shop
    dispatch:
      - ask: {text: "Write a small program"}
        outcome: role
        role_id: dev
      - ask: {text: "Good morning!"}
        outcome: not_applicable
        because: [TEXT_SMALL_TALK]
      - ask: {intent: sing}
        outcome: not_applicable
      - ask: {domain: codegen, text: "Write a program"}
        outcome: role
      - ask: {}
        outcome: role
"""
    write_tree(shop, {"sentences.yaml": cases})
    done = run("test", "sentences.yaml", cwd=shop)
    assert (done.returncode, done.stderr) == (1, "3 passed, 2 failed\n")
    assert done.stdout.count("the question does not have exactly one of `domain`, `intent` and `text`") == 2
