"""Renders JUnit XML: one test suite per file, one test case per finding, and one passing test case for a file without
findings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree

from orgkernel.diagnostics.diagnostic import Diagnostic, Severity
from orgkernel.diagnostics.render import sentence, title
from orgkernel.diagnostics.wording import clean

# XML 1.0 cannot represent these, not even as references; control characters were written out before.
_ILLEGAL = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(diagnostics: Iterable[Diagnostic], files: Iterable[str], fail_on: Severity) -> str:
    """The report. Findings that make the check fail are failures, and the others are skipped tests, so the report
    agrees with the check.
    """
    by_file: dict[str, list[Diagnostic]] = {name: [] for name in files}
    for diagnostic in diagnostics:
        by_file.setdefault(diagnostic.place.file, []).append(diagnostic)
    root = ElementTree.Element("testsuites", {"name": "orgkernel check"})
    totals: Counter[str] = Counter(tests=0, failures=0, errors=0, skipped=0)
    for file, theirs in sorted(by_file.items()):
        counts = _count_outcomes(theirs, fail_on)
        totals.update(counts)
        suite = ElementTree.SubElement(root, "testsuite", _build_attributes({"name": file} | counts))
        _add_cases(suite, file, theirs, fail_on)
    root.attrib |= _build_attributes(totals)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _count_outcomes(diagnostics: list[Diagnostic], fail_on: Severity) -> dict[str, int]:
    failures = sum(diagnostic.severity.reaches(fail_on) for diagnostic in diagnostics)
    return {
        "tests": len(diagnostics) or 1,
        "failures": failures,
        "errors": 0,
        "skipped": len(diagnostics) - failures,
    }


def _add_cases(
    suite: ElementTree.Element, file: str, diagnostics: list[Diagnostic], fail_on: Severity
) -> None:
    if not diagnostics:
        _add_case(suite, file, "no findings")
    seen: Counter[str] = Counter()
    for diagnostic in diagnostics:
        # A history of test runs identifies a test by its name, so names contain no line number and are unique.
        name = f"{title(diagnostic)} {diagnostic.subject}".rstrip()
        seen[name] += 1
        case = _add_case(suite, file, f"{name} #{seen[name]}" if seen[name] > 1 else name)
        message = f"{diagnostic.severity.value}: {sentence(diagnostic)}"
        if diagnostic.severity.reaches(fail_on):
            failure = ElementTree.SubElement(
                case, "failure", _build_attributes({"message": message, "type": diagnostic.code})
            )
            failure.text = _replace_illegal(f"{diagnostic.place}: {message}")
        else:
            ElementTree.SubElement(
                case, "skipped", _build_attributes({"message": f"{diagnostic.place}: {message}"})
            )


def _add_case(suite: ElementTree.Element, file: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", _build_attributes({"name": name, "classname": file, "file": file, "time": "0"})
    )


def _build_attributes(values: Counter[str] | dict[str, str | int]) -> dict[str, str]:
    return {name: _replace_illegal(str(value)) for name, value in values.items()}


def _replace_illegal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", clean(text))
