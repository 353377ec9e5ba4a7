"""The page of every code: a rule's docstring, or a row about reading and shape, cases, contracts or service."""

from __future__ import annotations

from dataclasses import dataclass

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.case_rows import CASE_ROWS
from orgkernel.diagnostics.catalog import ROWS, Row
from orgkernel.diagnostics.contract_rows import CONTRACT_ROWS
from orgkernel.diagnostics.handoff_rows import HANDOFF_ROWS
from orgkernel.diagnostics.service_rows import SERVICE_ROWS
from orgkernel.rules.catalog import get_page, list_rules
from orgkernel.rules.effects import PLACES, list_effects
from orgkernel.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a code."""

    code: str
    name: str
    severity: Severity
    summary: str
    text: str

    @property
    def file_name(self) -> str:
        """Name of the page's file."""
        return f"{self.code}-{self.name}.md"


def build_all_pages() -> dict[str, Page]:
    """All pages, keyed by code and sorted by code."""
    rows = {**ROWS, **CASE_ROWS, **CONTRACT_ROWS, **HANDOFF_ROWS, **SERVICE_ROWS}
    pages = [_build_row_page(row) for row in rows.values()] + [
        _build_rule_page(rule) for rule in list_rules()
    ]
    return {page.code: page for page in sorted(pages, key=lambda page: page.code)}


def _build_rule_page(rule: Rule) -> Page:
    summary, _, rest = get_page(rule).partition("\n")
    return _build_page(rule.code, rule.name, rule.severity, summary, rest.strip())


def _build_row_page(row: Row) -> Page:
    rest = f"## Why it matters\n\n{row.why}\n\n## Instead\n\n{row.instead}\n\n## Since\n\n0.1"
    return _build_page(row.code, row.name, row.severity, row.what, rest)


def _build_page(code: str, name: str, severity: Severity, summary: str, rest: str) -> Page:
    taken = "" if severity is not Severity.ERROR else f" {_describe_effects(code)}"
    text = f"# {code} {name}\n\n{summary}\n\nDefault severity: **{severity.value}**.{taken}\n\n{rest}\n"
    return Page(code, name, severity, summary, text)


def _describe_effects(code: str) -> str:
    """What an error takes out of service, as a sentence."""
    by_effect: dict[str, list[str]] = {}
    for place, effect in list_effects(code, Severity.ERROR).items():
        by_effect.setdefault(effect, []).append(PLACES[place])
    if len(by_effect) == 1:
        return f"It takes {next(iter(by_effect))} out of service."
    parts = (f"{effect} {' and '.join(places)}" for effect, places in by_effect.items())
    return f"It takes out of service: {'; '.join(parts)}."
