"""Renders SARIF 2.1.0, the format that code scanning reads: one run with and one result for each finding, and the rules of these findings.

The output depends neither on the machine nor on the time. File names are relative to the repository.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Protocol
from urllib.parse import quote

from orgkernel.diagnostics.diagnostic import Diagnostic, Place, Severity, fingerprint_findings
from orgkernel.diagnostics.render import ReadLines, find_end_column, sentence
from orgkernel.diagnostics.wording import clean

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
# Only a name, never fetched; code scanning refuses a log without it.
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = "%SRCROOT%"
# Not `primaryLocationLineHash`: GitHub's upload computes that itself and warns about any other value.
_FINGERPRINT = "orgkernelFinding/v1"


class SarifRule(Protocol):
    """The page of a rule."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def severity(self) -> Severity: ...
    @property
    def summary(self) -> str: ...
    @property
    def text(self) -> str: ...


def render_sarif(
    diagnostics: Iterable[Diagnostic], pages: Sequence[SarifRule], version: str, read_lines: ReadLines
) -> str:
    """The log as JSON. It lists those of the `pages` whose code a finding has, in their order."""
    findings = tuple(diagnostics)
    codes = {diagnostic.code for diagnostic in findings}
    fired = [page for page in pages if page.code in codes]
    index = {page.code: number for number, page in enumerate(fired)}
    driver = {"name": "orgkernel", "semanticVersion": version, "rules": [_build_rule(page) for page in fired]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"description": {"text": "The root of the repository."}}},
        "results": [
            _build_result(diagnostic, fingerprint, index, read_lines)
            for diagnostic, fingerprint in fingerprint_findings(findings)
        ],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _build_rule(page: SarifRule) -> dict[str, Any]:
    words = page.name.split("-")
    return {
        "id": page.code,
        "name": "".join(word.capitalize() for word in words),
        "shortDescription": {"text": f"{' '.join(words).capitalize()}."},
        "fullDescription": {"text": page.summary},
        "help": {"text": page.text, "markdown": page.text},
        "defaultConfiguration": {"level": _LEVELS[page.severity]},
    }


def _build_result(
    diagnostic: Diagnostic, fingerprint: str, index: dict[str, int], read_lines: ReadLines
) -> dict[str, Any]:
    result: dict[str, Any] = {"ruleId": diagnostic.code}
    if diagnostic.code in index:
        result["ruleIndex"] = index[diagnostic.code]
    result |= {
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": _break_links(sentence(diagnostic))},
        "locations": [{"physicalLocation": _build_location(diagnostic.place, read_lines)}],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {
                "id": number,
                "physicalLocation": _build_location(each.place, read_lines),
                "message": {"text": _break_links(clean(each.text))},
            }
            for number, each in enumerate(diagnostic.related, 1)
        ]
    if diagnostic.subject:
        result["properties"] = {"subject": clean(diagnostic.subject)}
    return result


def _build_location(place: Place, read_lines: ReadLines) -> dict[str, Any]:
    region = {"startLine": place.line, "startColumn": place.column}
    end = find_end_column(place, read_lines)
    if end is not None:
        region |= {"endLine": place.line, "endColumn": end}
    return {"artifactLocation": _build_artifact(clean(place.file)), "region": region}


def _build_artifact(file: str) -> dict[str, str]:
    """The location of a file. A file outside the repository keeps its absolute name."""
    if file.startswith("/"):
        return {"uri": f"file://{quote(file)}"}
    return {"uri": quote(file), "uriBaseId": _BASE}


def _break_links(text: str) -> str:
    """Text in which viewers find no link: `[text](target)` in a document must not become one."""
    return text.replace("](", "] (")
