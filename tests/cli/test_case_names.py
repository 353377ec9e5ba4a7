"""`orgkernel test`: a case that expects a denial does not pass because a name in it is misspelled."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import SHOP
from tests.support.in_process import run_here as run
from tests.support.trees import write_tree

CREW = {
    "crew.yaml": """\
_schema: orgkernel:crew_roster
agents: {ann: {assignments: [{role: dev}]}}
---
_schema: orgkernel:directory
people: {owner: {relationship: owner}, guest: {}}
""",
}


def negative(question: str, *, more: str = "") -> dict[str, str]:
    """Cases of one question that is denied whether its names are declared or not."""
    return {
        "cases.yaml": f"""\
_schema: orgkernel:decision_cases
cases:
  - name: this is denied
    org: shop
{more}    {question}
"""
    }


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", SHOP | CREW)


TYPOS = [
    ("role", "deve", 'access: [{ask: {subject: "role:deve", action: use, resource: "tool:scheduler"}, outcome: deny}]', "dev"),
    ("agent", "anne", 'access: [{ask: {subject: "agent:anne", action: use, resource: "tool:scheduler"}, outcome: deny}]', "ann"),
    ("person", "gest", 'access: [{ask: {subject: "person:gest", action: use, resource: "tool:scheduler"}, outcome: deny}]', "guest"),
    ("tool", "schedular", 'access: [{ask: {subject: "role:dev", action: use, resource: "tool:schedular"}, outcome: deny}]', "scheduler"),
    ("action", "runn", 'access: [{ask: {subject: "role:dev", action: runn, resource: "tool:scheduler"}, outcome: deny}]', "run"),
    ("domain", "dockr_ops", "dispatch: [{ask: {domain: dockr_ops}, outcome: not_applicable}]", "docker_ops"),
    ("tool", "schedular", 'who_can: [{action: use, resource: "tool:schedular", are: []}]', "scheduler"),
    ("person", "gest", 'what_can: [{subject: "person:gest", can: {}}]', "guest"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "typo", "question", "meant"), TYPOS)
def test_a_misspelled_name_fails_a_case_that_expects_a_denial(
    shop: Path, kind: str, typo: str, question: str, meant: str
) -> None:
    """The failure has a code, the line of the name and the nearest declared name, in `test` and in `check`."""
    write_tree(shop, negative(question))
    for command in (("test", "cases.yaml"), ("check",)):
        done = run(*command, cwd=shop)
        assert done.returncode == 1
        assert done.stdout.startswith("cases.yaml:5:")
        assert "error[ORG708] undeclared-case-name: case `this is denied` names" in done.stdout
        assert f"{kind} `{typo}`" in done.stdout
        assert f"help: did you mean `{meant}`?" in done.stdout
        assert done.stdout.count("ORG708]") == 1


@pytest.mark.parametrize(("kind", "typo", "question", "meant"), TYPOS)
def test_a_case_can_be_about_an_undeclared_name(
    shop: Path, kind: str, typo: str, question: str, meant: str
) -> None:
    """With `undeclared: true` the question of the case is evaluated, and the undeclared name is denied."""
    write_tree(shop, negative(question, more="    undeclared: true\n"))
    done = run("test", "cases.yaml", cwd=shop)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "1 passed, 0 failed\n")
    assert run("check", cwd=shop).returncode == 0


@pytest.mark.parametrize(("kind", "typo", "question", "meant"), TYPOS[:6])
def test_the_declared_name_passes(shop: Path, kind: str, typo: str, question: str, meant: str) -> None:
    """The same questions with the names that were meant are denied too, so the typo alone made them fail."""
    if typo == "dockr_ops":
        question = "dispatch: [{ask: {domain: osint}, outcome: not_applicable}]"
    write_tree(shop, negative(question.replace(typo, meant)))
    assert run("test", "cases.yaml", cwd=shop).returncode == 0


def test_a_misspelled_name_in_the_assumed_state_stops_the_case(shop: Path) -> None:
    """A restriction of an undeclared agent would restrict nothing, so no question of the case is evaluated."""
    given = '    given: {restrictions: {r: {subject: "agent:anne", resources: ["tool:text_editor"]}}}\n'
    write_tree(shop, negative(TYPOS[0][2].replace("deve", "dev"), more=given))
    done = run("test", "cases.yaml", cwd=shop)
    assert (done.returncode, done.stderr) == (1, "0 passed, 1 failed, 1 not run\n")
    assert (
        "cases.yaml:5:41: error[ORG708] undeclared-case-name: case `this is denied` names agent `anne`"
        in done.stdout
    )


def test_a_date_that_does_not_exist_is_one_failure(shop: Path) -> None:
    """A malformed date in the assumed state is reported once, and no traceback follows."""
    given = '    given: {grants: {g: {subject: "role:dev", resources: ["tool:scheduler"], expires: 2026-02-30 10:00}}}\n'
    write_tree(shop, negative(TYPOS[0][2].replace("deve", "dev"), more=given))
    done = run("test", "cases.yaml", cwd=shop)
    assert (done.returncode, done.stderr) == (1, "0 passed, 1 failed, 1 not run\n")
    assert "error[ORG722] malformed-question: case `this is denied`, given: " in done.stdout


def test_a_typo_in_a_case_does_not_hold_back_the_organization(shop: Path) -> None:
    """An organization answers although a case in its own file names an undeclared role."""
    text = negative(TYPOS[0][2])["cases.yaml"]
    write_tree(shop, {"org.yaml": f"{SHOP['org.yaml']}---\n{text}"})
    assert run("check", cwd=shop).returncode == 1
    assert run("dispatch", "codegen", cwd=shop).stdout.startswith("codegen → dev (Dev)\n")


def test_a_broken_organization_is_reported_once(shop: Path) -> None:
    """Its errors are one finding, its questions are not run, cases of other organizations are, and the exit code is 2."""
    write_tree(
        shop.parent / "two", {**SHOP, "org.yaml": SHOP["org.yaml"].replace("org_id: shop", "org_id: two")}
    )
    write_tree(shop, {"org.yaml": SHOP["org.yaml"].replace("dev: {}\n", "dev: {subordinates: [co]}\n")})
    case = "  - {{name: {name}, org: {org}, dispatch: [{{ask: {{domain: codegen}}, outcome: role}}, {{ask: {{domain: osint}}, outcome: not_applicable}}]}}\n"
    cases = "".join(
        case.format(name=f"n{number}", org=org) for number, org in enumerate(["shop", "two", "shop"])
    )
    write_tree(shop.parent, {"cases.yaml": f"_schema: orgkernel:decision_cases\ncases:\n{cases}"})
    done = run("test", "cases.yaml", "--path", "shop", "--path", "two", cwd=shop.parent)
    assert (done.returncode, done.stderr) == (2, "2 passed, 1 failed, 4 not run\n")
    assert done.stdout.startswith(
        "cases.yaml:3:21: error[ORG721] unanswered-cases: organization `shop` has 2 errors, so its cases are not run\n"
    )
    assert re.search(r"(?m)^    shop/org.yaml:\d+:\d+: ORG203 ", done.stdout)
    listed = json.loads(
        run(
            "test", "cases.yaml", "--path", "shop", "--path", "two", "--format", "json", cwd=shop.parent
        ).stdout
    )
    assert [each["outcome"] for each in listed] == [
        "failed",
        *["not_run"] * 2,
        *["passed"] * 2,
        *["not_run"] * 2,
    ]


def test_without_a_file_the_cases_of_the_project_are_run(shop: Path) -> None:
    """The cases in the paths of the nearest orgkernel.toml, or in the current folder, are found without naming them."""
    write_tree(shop, negative(TYPOS[0][2].replace("deve", "dev")))
    assert run("test", cwd=shop).stderr == "1 passed, 0 failed\n"
    write_tree(shop.parent, {"orgkernel.toml": 'paths = ["shop"]\n'})
    assert run("test", cwd=shop.parent).stderr == "1 passed, 0 failed\n"
    (shop / "cases.yaml").unlink()
    done = run("test", cwd=shop)
    assert done.returncode == 2
    assert "error: there are no decision cases here\n" in done.stderr


def test_cases_without_their_organization_name_the_option(shop: Path) -> None:
    """Where no organization is read, the failure says how to name one."""
    text = negative(TYPOS[0][2].replace("deve", "dev"))["cases.yaml"]
    write_tree(shop.parent, {"cases/cases.yaml": text})
    done = run("test", "cases", cwd=shop.parent)
    assert (done.returncode, done.stderr) == (1, "0 passed, 1 failed, 1 not run\n")
    assert "help: name the folder of the organization with `--path`\n" in done.stdout
    assert run("test", "cases", "--path", "shop", cwd=shop.parent).returncode == 0
