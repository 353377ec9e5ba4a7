"""`orgkernel test --format github|gitlab|junit|sarif` and `--cover`: what CI systems and authors are given."""

from __future__ import annotations

import json
from pathlib import Path

import junitparser
import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifSchema

from tests.cli.running import SHOP
from tests.cli.test_formats import FORMATS, files_in
from tests.support.in_process import run_here as run
from tests.support.trees import write_tree

CASES = """\
_schema: orgkernel:decision_cases
cases:
  - name: right
    org: shop
    dispatch: [{ask: {domain: codegen}, outcome: role, role_id: dev}]
  - name: wrong
    org: shop
    dispatch:
      - {ask: {domain: codegen}, outcome: not_applicable}
      - {ask: {domain: docker_ops}, outcome: role, plans: [codegen_module], tools: []}
    access:
      - {ask: {subject: "role:devv", action: use, resource: "tool:scheduler"}, outcome: deny}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return write_tree(tmp_path / "teams/shop", SHOP | {"cases.yaml": CASES})


@pytest.mark.parametrize("form", FORMATS)
def test_failures_are_reported_in_the_formats_of_check(shop: Path, form: str) -> None:
    """Each failure is one finding, and its file is named from the top of the repository."""
    done = run("test", "cases.yaml", "--format", form, cwd=shop)
    assert (done.returncode, done.stderr) == (1, "1 passed, 3 failed\n")
    expected = 3 if form == "junit" else 4
    assert files_in(form, done.stdout) == ["teams/shop/cases.yaml"] * expected


@pytest.mark.parametrize("form", FORMATS)
def test_cases_that_pass_are_a_report_without_findings(shop: Path, form: str) -> None:
    """A CI system gets a report to compare the next one with."""
    write_tree(shop, {"cases.yaml": CASES.partition("  - name: wrong")[0]})
    done = run("test", "--format", form, cwd=shop)
    assert (done.returncode, files_in(form, done.stdout)) == (0, [])
    assert bool(done.stdout) is (form != "github")


def test_github_annotates_the_line_of_the_expectation(shop: Path) -> None:
    """The exact line that the runner reads, and a table in the step summary."""
    page = shop.parent / "summary.md"
    done = run("test", "cases.yaml", "--format", "github", cwd=shop, env={"GITHUB_STEP_SUMMARY": str(page)})
    assert done.stdout.splitlines()[-1] == (
        "::error title=ORG708 undeclared-case-name,file=teams/shop/cases.yaml,line=12,col=25,endLine=12,endColumn=36::"
        "case `wrong` names role `devv`, which is not declared (did you mean `dev`?)"
    )
    text = page.read_text(encoding="utf-8")
    assert text.startswith("### orgkernel test\n\n1 passed\\, 3 failed\n\n| severity")
    assert text.count("\n| error | ORG7") == 4


def test_junit_has_a_test_for_each_question(shop: Path) -> None:
    """A test has the same name whether it passes or fails, so a history of runs can follow it."""
    report = junitparser.JUnitXml.fromstring(
        run("test", "cases.yaml", "--format", "junit", cwd=shop).stdout.encode()
    )
    assert (report.tests, report.failures, report.skipped) == (4, 3, 0)
    names = [test.name for suite in report for test in suite]
    assert names == [
        "right: dispatch codegen in shop",
        "wrong: dispatch codegen in shop",
        "wrong: dispatch docker_ops in shop",
        "wrong: role:devv use tool:scheduler in shop",
    ]
    write_tree(shop, {"org.yaml": SHOP["org.yaml"].replace("dev: {}\n", "dev: {subordinates: [co]}\n")})
    report = junitparser.JUnitXml.fromstring(
        run("test", "cases.yaml", "--format", "junit", cwd=shop).stdout.encode()
    )
    assert (report.tests, report.failures, report.skipped) == (5, 1, 4)
    assert {test.name for suite in report for test in suite} == {*names, "right: organization shop"}


def test_sarif_has_the_pages_of_the_findings(shop: Path) -> None:
    """The report is valid SARIF and lists the two rules that fired."""
    done = run("test", "cases.yaml", "--format", "sarif", cwd=shop)
    SarifSchema.model_validate_json(done.stdout, strict=True)
    (one,) = json.loads(done.stdout)["runs"]
    assert [rule["id"] for rule in one["tool"]["driver"]["rules"]] == ["ORG708", "ORG720"]


COVER = {
    "tools.yaml": """\
_schema: orgkernel:tool_catalog
tools:
  till: {type: infra_service, side_effects: write, restricted_to: [ops]}
  safe: {type: infra_service, side_effects: write, restricted_to: [ops]}
""",
    "policies.yaml": """\
_schema: orgkernel:access_policies
policies:
  no_editing: {effect: deny, match: {principal: {role: dev}}, permissions: {tools: {deny: [text_editor]}}}
  no_loading: {effect: deny, match: {principal: {role: dev}}, permissions: {tools: {deny: [memory_load]}}}
""",
    "cases.yaml": """\
_schema: orgkernel:decision_cases
cases:
  - name: developers
    org: shop
    access:
      - {ask: {subject: "role:dev", action: use, resource: "tool:till"}, outcome: deny}
      - {ask: {subject: "role:dev", action: use, resource: "tool:text_editor"}, outcome: deny}
      - {ask: {subject: "role:dev", action: use, resource: "tool:code_execution_tool"}, outcome: allow}
""",
}


def test_cover_lists_what_no_case_asks_about(shop: Path) -> None:
    """Roles, tools, policies and denials without a case are listed with their lines; those with one are not."""
    write_tree(shop, COVER)
    done = run("test", "--cover", cwd=shop)
    assert (done.returncode, done.stderr) == (0, "3 passed, 0 failed\n")
    assert done.stdout == (
        "shop: cases ask about 1 of 3 roles\n"
        "  roles/co.yaml:2:10: role `co`\n"
        "  roles/ops.yaml:2:10: role `ops`\n"
        "shop: cases ask about 3 of 6 tools\n"
        "  tools.yaml:4:3: tool `safe`\n"
        "  ontology/tools.yaml:60:3: tool `call_subordinate`\n"
        "  ontology/tools.yaml:112:3: tool `memory_load`\n"
        "shop: cases ask about 1 of 2 policies\n"
        "  policies.yaml:4:3: policy `no_loading`\n"
        "shop: cases ask about 1 of 2 denials\n"
        "  tools.yaml:4:67: `restricted_to` of tool `safe`\n"
    )
    data = json.loads(run("test", "--cover", "--format", "json", cwd=shop).stdout)
    assert [each["outcome"] for each in data["results"]] == ["passed"] * 3
    (cover,) = data["cover"]
    assert {key: value["total"] for key, value in cover.items() if key != "organization"} == {
        "roles": 3, "tools": 6, "policies": 2, "denials": 2,
    }  # fmt: skip
    assert cover["denials"]["uncovered"] == [
        {"name": "tool:safe NOT_IN_RESTRICTED_TO", "file": "tools.yaml", "line": 4, "column": 67}
    ]


def test_a_complete_list_in_a_case_covers_the_denials_it_implies(shop: Path) -> None:
    """`who_can` lists every role that may use a tool, so it asks about each role that may not."""
    cases = 'cases: [{name: n, org: shop, who_can: [{action: use, resource: "tool:safe", are: []}]}]\n'
    write_tree(shop, COVER | {"cases.yaml": f"_schema: orgkernel:decision_cases\n{cases}"})
    done = run("test", "--cover", cwd=shop)
    assert "`restricted_to` of tool `safe`" not in done.stdout
    assert "`restricted_to` of tool `till`" in done.stdout


def test_cover_lists_an_organization_without_cases(shop: Path) -> None:
    """Everything that an organization without cases declares is listed as not covered."""
    write_tree(shop, COVER)
    write_tree(
        shop.parent / "two", {**SHOP, "org.yaml": SHOP["org.yaml"].replace("org_id: shop", "org_id: two")}
    )
    done = run("test", "--cover", cwd=shop.parent)
    assert (done.returncode, done.stderr) == (0, "3 passed, 0 failed\n")
    assert "two: cases ask about 0 of 3 roles\n" in done.stdout


def test_cover_is_refused_in_a_format_that_has_no_place_for_it(shop: Path) -> None:
    """A SARIF report must not silently leave the list out."""
    done = run("test", "--cover", "--format", "sarif", cwd=shop)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--cover needs --format text or json" in done.stderr
