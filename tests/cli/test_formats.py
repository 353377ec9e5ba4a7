"""`orgkernel check --format github|gitlab|junit|sarif`: what CI systems are given."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import junitparser
import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifSchema

from tests.cli.running import SHOP, run
from tests.cli.test_check import ERROR, INFO
from tests.support.in_process import run_here
from tests.support.trees import write_tree

FORMATS = ("github", "gitlab", "junit", "sarif")
# Text that each of the formats would trip over, as far as a document may hold it.
HOSTILE = {
    "roles/dev.yaml": SHOP["roles/dev.yaml"].replace(
        "codegen]", r"""codegen, "a::b,c=d 100%0A\r\n\e\0 ]]> </x> &amp; ](y) | \uFFFE é 😀"]"""
    )
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", SHOP)


def files_in(form: str, stdout: str) -> list[str]:
    """The file each finding of a report is about."""
    if form == "github":
        return [line.split("file=")[1].split(",")[0] for line in stdout.splitlines()]
    if form == "gitlab":
        return [entry["location"]["path"] for entry in json.loads(stdout)]
    if form == "junit":
        cases = ElementTree.fromstring(stdout).iter("testcase")
        return [case.attrib["file"] for case in cases if len(case)]
    results = json.loads(stdout)["runs"][0]["results"]
    return [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]


@pytest.mark.parametrize("form", FORMATS)
def test_a_clean_organization_is_a_report_without_findings(shop: Path, form: str) -> None:
    """What a CI system compares the next one with; never nothing where it wants a document."""
    done = run_here("check", "--format", form, cwd=shop)
    assert (done.returncode, files_in(form, done.stdout)) == (0, [])
    assert bool(done.stdout) is (form != "github")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("broken", "fail_on", "code"),
    [(ERROR, "error", 1), (INFO, "error", 0), (INFO, "info", 1)],
)
def test_the_exit_code_does_not_depend_on_the_format(
    shop: Path, form: str, broken: dict[str, str], fail_on: str, code: int
) -> None:
    """0 and 1 as everywhere; the report is complete either way."""
    write_tree(shop, broken)
    done = run_here("check", "--format", form, "--fail-on", fail_on, cwd=shop)
    assert (done.returncode, files_in(form, done.stdout)) == (code, list(broken))
    assert done.stderr.endswith(" in 1 organization, 3 roles, 4 files\n")


@pytest.mark.parametrize("form", ["github", "sarif"])
def test_what_cannot_be_checked_is_exit_2_and_no_report(tmp_path: Path, form: str) -> None:
    """A CI system must not take it for a clean run."""
    done = run_here("check", "--format", form, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("form", "folder", "paths"),
    [
        ("github", ".", ()),
        ("github", "agents/shop/roles", ()),
        ("github", "agents", ("shop",)),
        ("gitlab", "agents/shop", ()),
        ("junit", "agents/shop", ()),
        ("sarif", "agents/shop", ()),
        ("concise", "agents/shop", ()),
    ],
)
def test_files_are_named_from_the_top_of_the_repository(
    tmp_path: Path, form: str, folder: str, paths: tuple[str, ...]
) -> None:
    """Wherever in it one stands, because that is where annotations look for them; people see what they can open."""
    (tmp_path / ".git").mkdir()
    write_tree(tmp_path / "agents/shop", SHOP | ERROR)
    done = run_here("check", *paths, "--format", form, cwd=tmp_path / folder)
    if form == "concise":
        assert done.stdout.startswith("roles/dev.yaml:")
    else:
        assert files_in(form, done.stdout) == ["agents/shop/roles/dev.yaml"]


@pytest.mark.parametrize("form", ["github", "sarif"])
def test_a_file_outside_the_repository_keeps_its_full_name(tmp_path: Path, form: str) -> None:
    """There is no other way to find it."""
    (tmp_path / "here/.git").mkdir(parents=True)
    shop = write_tree(tmp_path / "shop", SHOP | ERROR)
    (file,) = files_in(form, run_here("check", str(shop), "--format", form, cwd=tmp_path / "here").stdout)
    assert file.removeprefix("file://") == str(shop / "roles/dev.yaml")


def test_github_is_a_command_per_finding(shop: Path) -> None:
    """The exact lines the runner reads, with the end of the word."""
    write_tree(shop, ERROR | INFO)
    assert run("check", "--format", "github", cwd=shop).stdout == (
        "::error title=ORG301 unknown-domain,file=roles/dev.yaml,line=5,col=26,endLine=5,endColumn=32::"
        "role `dev` handles `codegn`, which is not a declared domain (did you mean `codegen`?)\n"
        "::notice title=ORG702 undescribed-role,file=roles/ops.yaml,line=2,col=10,endLine=2,endColumn=13::"
        "role `ops` has no description (describe in one sentence what the role is for)\n"
    )


def test_github_appends_to_the_summary_of_the_step(shop: Path) -> None:
    """All findings, because only ten annotations per severity are shown; what stands there stays."""
    write_tree(shop, ERROR)
    page = shop.parent / "summary.md"
    page.write_text("before\n\n", encoding="utf-8")
    done = run_here("check", "--format", "github", cwd=shop, env={"GITHUB_STEP_SUMMARY": str(page)})
    assert done.returncode == 1
    text = page.read_text(encoding="utf-8")
    assert text.startswith(
        "before\n\n### orgkernel check\n\n1 error in 1 organization\\, 3 roles\\, 4 files\n\n| severity"
    )
    assert (
        text.count("\n| error | ORG301 unknown\\-domain | roles\\/dev\\.yaml\\:5\\:26 | role \\`dev\\`") == 1
    )


@pytest.mark.parametrize("form", ["full", "sarif"])
def test_only_the_github_format_writes_a_step_summary(shop: Path, form: str) -> None:
    """Another format in the same job leaves the page alone."""
    page = shop.parent / "summary.md"
    run_here("check", "--format", form, cwd=shop, env={"GITHUB_STEP_SUMMARY": str(page)})
    assert not page.exists()


def test_a_step_summary_that_cannot_be_written_does_not_change_the_outcome(shop: Path) -> None:
    """If the step summary cannot be written, the check reports a warning and exits as usual."""
    write_tree(shop, ERROR)
    done = run_here(
        "check", "--format", "github", cwd=shop, env={"GITHUB_STEP_SUMMARY": str(shop / "gone/summary.md")}
    )
    assert done.returncode == 1
    assert done.stdout.startswith("::error ")
    assert done.stderr.startswith("warning: the step summary cannot be written: No such file or directory\n")


def test_junit_fails_exactly_what_fails_the_check(shop: Path) -> None:
    """Findings below the threshold are skipped tests, so a green pipeline has no red test."""
    write_tree(shop, ERROR | INFO)
    for fail_on, failures in (("error", 1), ("info", 2)):
        text = run_here("check", "--format", "junit", "--fail-on", fail_on, cwd=shop).stdout
        report = junitparser.JUnitXml.fromstring(text.encode())
        assert (report.tests, report.failures, report.skipped) == (4, failures, 2 - failures)
        assert [suite.name for suite in report] == [
            "org.yaml",
            "roles/co.yaml",
            "roles/dev.yaml",
            "roles/ops.yaml",
        ]


def test_sarif_knows_every_rule_and_names_no_path_of_this_machine(shop: Path) -> None:
    """The same bytes wherever it is made."""
    write_tree(shop, ERROR)
    done = run_here("check", "--format", "sarif", cwd=shop)
    SarifSchema.model_validate_json(done.stdout, strict=True)
    (one,) = json.loads(done.stdout)["runs"]
    assert (
        one["results"][0]["ruleId"]
        == one["tool"]["driver"]["rules"][one["results"][0]["ruleIndex"]]["id"]
        == "ORG301"
    )
    assert str(shop) not in done.stdout
    elsewhere = write_tree(shop.parent / "elsewhere", SHOP | ERROR)
    assert run_here("check", "--format", "sarif", cwd=elsewhere).stdout == done.stdout


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_text_in_a_document_stays_text(shop: Path, form: str) -> None:
    """Line breaks, control characters, delimiters of the format: one finding, readable by its parser."""
    write_tree(shop, HOSTILE)
    done = run("check", "--format", form, cwd=shop, env={"LC_ALL": "C"})
    assert set(files_in(form, done.stdout)) == {"roles/dev.yaml"}
    assert not any(ord(character) < 32 and character != "\n" for character in done.stdout)
    if form == "sarif":
        SarifSchema.model_validate_json(done.stdout, strict=True)


@pytest.mark.parametrize("form", FORMATS)
def test_a_secret_in_a_document_is_not_repeated(shop: Path, form: str) -> None:
    """A CI log is read by more people than the repository."""
    token = "ghp_" + "a1B2c3D4e5" * 4
    write_tree(
        shop, {"roles/ops.yaml": SHOP["roles/ops.yaml"].replace("Keeps it running.", f"token {token}")}
    )
    done = run_here("check", "--format", form, cwd=shop)
    assert "ORG704" in done.stdout
    assert token not in done.stdout + done.stderr
