"""Style guide, sections 6 to 8, as tests: every code has what a reader needs, every module says what it is."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from orgkernel.diagnostics.case_rows import CASE_ROWS
from orgkernel.diagnostics.catalog import ROWS
from orgkernel.diagnostics.contract_rows import CONTRACT_ROWS
from orgkernel.diagnostics.handoff_rows import HANDOFF_ROWS
from orgkernel.diagnostics.service_rows import SERVICE_ROWS
from orgkernel.rules.catalog import get_page, list_rules
from orgkernel.rules.pages import build_all_pages
from orgkernel.rules.rule import Rule
from tests.loading.test_cases import FILES as READING
from tests.support.trees import REPOSITORY
from tests.support.yaml_text import read_yaml_file

CASES = {
    file["rule"]: file["cases"]
    for file in (
        read_yaml_file(path) for path in sorted((REPOSITORY / "tests" / "rules" / "cases").glob("*.yaml"))
    )
}
RULES = [pytest.param(rule, id=rule.code) for rule in list_rules()]
SECTIONS = ["What it checks", "Why it matters", "Example", "Instead", "Known limits", "Since"]

# One cause, one diagnostic: these name every offender of an organization in a single finding.
ONE_FOR_ALL = {"ORG204": 1}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_called_like_its_module(rule: Rule) -> None:
    """Code, name and file name say the same; the name states the defect in words."""
    assert rule.check.__module__.rpartition(".")[2] == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert re.fullmatch(r"ORG[2-8]\d\d", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)


def test_codes_and_names_are_used_once() -> None:
    """By rows and rules together."""
    rows = {**ROWS, **CASE_ROWS, **CONTRACT_ROWS, **HANDOFF_ROWS, **SERVICE_ROWS}
    codes = [*rows, *(rule.code for rule in list_rules())]
    names = [*(row.name for row in rows.values()), *(rule.name for rule in list_rules())]
    assert len(set(codes)) == len(codes) == len(build_all_pages())
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"ORG[01]\d\d", code) for code in ROWS)


def test_every_rule_has_a_case_file_and_every_case_file_a_rule() -> None:
    """Nothing is untested, and no tests speak of a rule that is gone."""
    assert set(CASES) == {rule.code for rule in list_rules()}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_has_the_cases_every_rule_needs(rule: Rule) -> None:
    """Firing, silent, a near miss, two offenders, and a template with one line changed."""
    cases = CASES[rule.code]
    missing = [name for name in ("example", "instead", "two_offenders", "template_with_one_line_changed") if name not in cases]  # fmt: skip
    missing += [] if any(name.startswith("near_miss_") for name in cases) else ["near_miss_*"]
    assert not missing
    assert cases["example"]["expect"]
    assert cases["instead"]["expect"] == []
    assert len(cases["two_offenders"]["expect"]) >= ONE_FOR_ALL.get(rule.code, 2)
    assert cases["template_with_one_line_changed"]["expect"]
    assert {"template", "change"} <= set(cases["template_with_one_line_changed"])
    for name, case in cases.items():
        assert not name.startswith("near_miss_") or case["expect"] == [], name


@pytest.mark.parametrize("rule", RULES)
def test_a_page_has_its_sections_in_order(rule: Rule) -> None:
    """And begins with one sentence that the list of rules shows."""
    page = get_page(rule)
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == SECTIONS
    summary = page.split("\n")[0]
    assert re.fullmatch(r"[A-Z`].{10,110}\.", summary)
    assert page.split("## Since\n\n")[1].strip() == "0.1"


@pytest.mark.parametrize("section", ["Example", "Instead"])
@pytest.mark.parametrize("rule", RULES)
def test_what_a_page_shows_is_what_is_tested(rule: Rule, section: str) -> None:
    """The lines of its code stand one after the other, up to their indentation, in a file of the case of that name."""
    body = get_page(rule).split(f"## {section}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```\w+\n(.*?)```", body, re.DOTALL)
    assert blocks
    for block in blocks:
        shown = dedented(block)
        assert any(holds(dedented(text), shown) for text in files_of(CASES[rule.code][section.lower()])), (
            block
        )


def files_of(case: dict[str, Any]) -> list[str]:
    return list(case["files"].values())


def dedented(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def holds(lines: list[str], part: list[str]) -> bool:
    return any(lines[start : start + len(part)] == part for start in range(len(lines) - len(part) + 1))


@pytest.mark.parametrize("code", sorted(ROWS))
def test_every_reading_and_shape_error_says_what_why_and_what_instead(code: str) -> None:
    """Whole sentences: they are a page."""
    row = ROWS[code]
    for text in (row.what, row.why, row.instead):
        assert re.fullmatch(r"[A-Z`].*\.", text), text


@pytest.mark.parametrize("code", sorted(ROWS))
def test_every_reading_and_shape_error_is_expected_by_a_case(code: str) -> None:
    """A case lists everything that is found, so a code that one lists is one that is reported."""
    found = (each for file in READING.values() for case in file["cases"].values() for each in case["expect"])
    assert code in {each["code"] for each in found}


def modules() -> list[Path]:
    return sorted((REPOSITORY / "orgkernel").rglob("*.py")) + sorted(
        (REPOSITORY / "manifest_api").rglob("*.py")
    )


def test_no_module_has_a_name_that_says_nothing() -> None:
    """Style guide, section 4."""
    empty = {"utils", "util", "helpers", "common", "base", "manager", "service", "handler"}
    assert [path for path in modules() if path.stem in empty] == []


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in modules()])
def test_every_module_class_and_public_function_says_what_it_is(path: Path) -> None:
    """A docstring, unless a method overrides one that has it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not path.read_text(encoding="utf-8").strip():
        return
    bare = [] if ast.get_docstring(tree) else ["module"]
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            bare += [] if ast.get_docstring(node) else [node.name]
    assert not bare


def functions_of(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]


def test_every_test_says_what_is_true() -> None:
    """One paragraph of at most three lines, in whole sentences."""
    wrong = []
    for path in sorted((REPOSITORY / "tests").rglob("test_*.py")):
        for node in functions_of(path):
            said = ast.get_docstring(node) or ""
            if not re.fullmatch(r"[^a-z\s](.|\n(?!\n))*[.?!]", said) or said.count("\n") > 2:
                wrong.append(f"{path.relative_to(REPOSITORY)}:{node.lineno} {node.name}")
    assert wrong == []
