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
    because = "role `ops` handles domain `docker_ops`; no other role can take this task"
    assert [line for line in done.stdout.splitlines() if line.startswith("wrong.yaml")] == [
        f"wrong.yaml:{place}: error[{code}] {message}"
        for place, code, message in (
            (
                "7:18",
                "ORG720",
                "unmet-expectation: case `all wrong`, dispatch codegen in shop: the outcome is `role` (`dev`), not "
                "`not_applicable`, because role `dev` handles domain `codegen`; no other role can take this task",
            ),
            (
                "9:18",
                "ORG720",
                "unmet-expectation: case `all wrong`, dispatch osint in shop: the outcome is `not_applicable`, not "
                "`role`, because no role handles domain `osint`",
            ),
            (
                "14:18",
                "ORG720",
                "unmet-expectation: case `all wrong`, dispatch docker_ops in shop: the role is `ops`, not `dev`, "
                f"because {because}",
            ),
            (
                "16:11",
                "ORG720",
                "unmet-expectation: case `all wrong`, dispatch docker_ops in shop: the plans are [], not "
                "[codegen_module]",
            ),
            (
                "17:16",
                "ORG720",
                "unmet-expectation: case `all wrong`, dispatch docker_ops in shop: the tools are "
                "[code_execution_tool], not []",
            ),
            (
                "18:18",
                "ORG720",
                "unmet-expectation: case `all wrong`, dispatch docker_ops in shop: the reasons are "
                "[HANDLES_DOMAIN, ONLY_CANDIDATE], not [HANDLES_DOMAIN]",
            ),
            (
                "20:10",
                "ORG708",
                "undeclared-case-name: case `asked of another organization` names organization `shpo`, which is not "
                "declared",
            ),
        )
    ]
    assert "   20 |     org: shpo\n      |          ^^^^\n    help: did you mean `shop`?\n" in done.stdout
    assert done.stderr == "0 passed, 4 failed, 1 not run\n"


def test_several_files_count_together_and_json_lists_every_question(shop: Path) -> None:
    """The JSON report has passed questions and questions that were not run too."""
    done = run("test", "cases.yaml", "wrong.yaml", "--format", "json", cwd=shop)
    listed = json.loads(done.stdout)
    assert done.returncode == 1
    assert [each["outcome"] for each in listed] == ["passed"] * 2 + ["failed"] * 4 + ["not_run"]
    assert [each["passed"] for each in listed] == [True] * 2 + [False] * 5
    assert listed[0] == {
        "case": "code goes to the developer", "question": "dispatch codegen in shop", "outcome": "passed", "passed": True,
        "failures": [],
    }  # fmt: skip
    failure = listed[2]["failures"][0]
    assert {key: failure[key] for key in ("code", "name", "file", "line", "column")} == {
        "code": "ORG720", "name": "unmet-expectation", "file": "wrong.yaml", "line": 7, "column": 18,
    }  # fmt: skip
    assert listed[5]["failures"][0]["help"] == "did you mean `shop`?"
    assert done.stderr == "2 passed, 4 failed, 1 not run\n"


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
    undeclared: true
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
    assert done.stdout.count("error[ORG722] malformed-question") == 2
    assert done.stdout.count("the question does not have exactly one of `domain`, `intent` and `text`") == 2
