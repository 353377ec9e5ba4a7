"""JUnit XML: a test suite per file, a test case per finding, and one that passes for a file without any."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree

from orgkernel.diagnostics.diagnostic import Diagnostic, Severity
from orgkernel.diagnostics.render import sentence, title
from orgkernel.diagnostics.wording import clean

# XML 1.0 has no way to write these, not even as a reference; what is a control character was written out before.
_ILLEGAL = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(diagnostics: Iterable[Diagnostic], files: Iterable[str], fail_on: Severity) -> str:
    """Findings that make the check fail are failures, the others skipped tests, so that the two agree."""
    by_file: dict[str, list[Diagnostic]] = {name: [] for name in files}
    for found in diagnostics:
        by_file.setdefault(found.place.file, []).append(found)
    root = ElementTree.Element("testsuites", {"name": "orgkernel check"})
    totals: Counter[str] = Counter(tests=0, failures=0, errors=0, skipped=0)
    for file, theirs in sorted(by_file.items()):
        counts = _counts(theirs, fail_on)
        totals.update(counts)
        suite = ElementTree.SubElement(root, "testsuite", _attributes({"name": file} | counts))
        _add_cases(suite, file, theirs, fail_on)
    root.attrib |= _attributes(totals)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _counts(diagnostics: list[Diagnostic], fail_on: Severity) -> dict[str, int]:
    failures = sum(found.severity.reaches(fail_on) for found in diagnostics)
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
    for found in diagnostics:
        # The name is what a history of test runs goes by: no line in it, and no two the same.
        name = f"{title(found)} {found.subject}".rstrip()
        seen[name] += 1
        case = _add_case(suite, file, f"{name} #{seen[name]}" if seen[name] > 1 else name)
        message = f"{found.severity.value}: {sentence(found)}"
        if found.severity.reaches(fail_on):
            failure = ElementTree.SubElement(
                case, "failure", _attributes({"message": message, "type": found.code})
            )
            failure.text = _legal(f"{found.place}: {message}")
        else:
            ElementTree.SubElement(case, "skipped", _attributes({"message": f"{found.place}: {message}"}))


def _add_case(suite: ElementTree.Element, file: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", _attributes({"name": name, "classname": file, "file": file, "time": "0"})
    )


def _attributes(values: Counter[str] | dict[str, str | int]) -> dict[str, str]:
    return {name: _legal(str(value)) for name, value in values.items()}


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", clean(text))
