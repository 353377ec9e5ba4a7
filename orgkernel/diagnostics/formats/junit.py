"""JUnit XML: one test suite per file. In a check, each finding is a test; in `orgkernel test`, each question of a case is one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from orgkernel.diagnostics.diagnostic import Diagnostic, Severity
from orgkernel.diagnostics.render import sentence, title
from orgkernel.diagnostics.wording import clean

# XML 1.0 cannot represent these characters, not even as references. `clean` has escaped control characters before.
_ILLEGAL = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class TestRun(NamedTuple):
    """One test of a report. Without findings it has passed, unless it was skipped."""

    name: str
    findings: tuple[Diagnostic, ...] = ()
    skipped: str = ""
    """Why the test was not run."""


def render_junit(diagnostics: Iterable[Diagnostic], files: Iterable[str], fail_on: Severity) -> str:
    """One suite for each file, with one test for each finding, or one that passed if the file has no findings."""
    by_file: dict[str, list[TestRun]] = {name: [] for name in files}
    seen: Counter[tuple[str, str]] = Counter()
    for diagnostic in diagnostics:
        file = diagnostic.place.file
        # A history of test runs identifies a test by its name, so names contain no line number and are unique.
        name = f"{title(diagnostic)} {diagnostic.subject}".rstrip()
        seen[file, name] += 1
        number = seen[file, name]
        run = TestRun(f"{name} #{number}" if number > 1 else name, (diagnostic,))
        by_file.setdefault(file, []).append(run)
    suites = {file: runs or [TestRun("no findings")] for file, runs in by_file.items()}
    return render_suites(suites, fail_on, "orgkernel check")


def render_suites(suites: Mapping[str, Sequence[TestRun]], fail_on: Severity, heading: str) -> str:
    """One suite for each file.

    A test fails if it has a finding at or above `fail_on`. A test with only lower findings is skipped, so the report agrees
    with the exit code.
    """
    root = ElementTree.Element("testsuites", {"name": heading})
    totals: Counter[str] = Counter(tests=0, failures=0, errors=0, skipped=0)
    for file, runs in sorted(suites.items()):
        counts = _count_results(runs, fail_on)
        totals.update(counts)
        suite = ElementTree.SubElement(root, "testsuite", _build_attributes({"name": file, **counts}))
        for run in runs:
            _add_run(suite, file, run, fail_on)
    root.attrib |= _build_attributes(totals)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _has_failed(run: TestRun, fail_on: Severity) -> bool:
    return any(diagnostic.severity.reaches(fail_on) for diagnostic in run.findings)


def _count_results(runs: Sequence[TestRun], fail_on: Severity) -> dict[str, int]:
    failures = sum(_has_failed(run, fail_on) for run in runs)
    skipped = sum(bool(run.findings or run.skipped) for run in runs) - failures
    return {"tests": len(runs), "failures": failures, "errors": 0, "skipped": skipped}


def _add_run(suite: ElementTree.Element, file: str, run: TestRun, fail_on: Severity) -> None:
    case = _add_case(suite, file, run.name)
    messages = [f"{each.severity.value}: {sentence(each)}" for each in run.findings]
    lines = [f"{each.place}: {message}" for each, message in zip(run.findings, messages, strict=True)]
    if _has_failed(run, fail_on):
        attributes = {"message": "; ".join(messages), "type": run.findings[0].code}
        failure = ElementTree.SubElement(case, "failure", _build_attributes(attributes))
        failure.text = "\n".join(map(_replace_illegal, lines))
    elif lines or run.skipped:
        message = "; ".join(lines) or run.skipped
        ElementTree.SubElement(case, "skipped", _build_attributes({"message": message}))


def _add_case(suite: ElementTree.Element, file: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", _build_attributes({"name": name, "classname": file, "file": file, "time": "0"})
    )


def _build_attributes(values: Mapping[str, str | int]) -> dict[str, str]:
    return {name: _replace_illegal(str(value)) for name, value in values.items()}


def _replace_illegal(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", clean(text))
