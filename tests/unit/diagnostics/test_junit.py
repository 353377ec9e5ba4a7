"""JUnit XML, read by two of the parsers that read it elsewhere."""

from __future__ import annotations

from xml.etree import ElementTree

import junitparser
from hypothesis import given
from hypothesis import strategies as st

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.formats.junit import render_junit
from tests.support.findings import TOKEN, a_finding, several, texts


@given(several, st.sets(texts, max_size=3), st.sampled_from(Severity))
def test_it_is_xml_whose_counts_are_true(found, files, fail_on):
    """Whatever a finding says; every finding is a test, and exactly those that fail the check are failures."""
    text = render_junit(found, files, fail_on)
    root = ElementTree.fromstring(text)
    failing = sum(each.severity.reaches(fail_on) for each in found)
    clean_files = files - {each.place.file for each in found}
    assert root.attrib["tests"] == str(len(found) + len(clean_files))
    assert root.attrib["failures"] == str(failing) == str(len(root.findall(".//failure")))
    assert root.attrib["skipped"] == str(len(found) - failing) == str(len(root.findall(".//skipped")))
    for suite in root:
        assert suite.attrib["tests"] == str(len(suite))
        names = [case.attrib["name"] for case in suite]
        assert len(set(names)) == len(names)
    assert TOKEN not in text


def test_the_exact_report():
    """A file with a failure and a skipped one, and a file without findings."""
    found = [
        a_finding(help="did you mean `codegen`?"),
        a_finding(line=9, severity=Severity.WARNING),
    ]
    assert (
        render_junit(found, ["org.yaml", "roles/dev.yaml"], Severity.ERROR)
        == """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="orgkernel check" tests="3" failures="1" errors="0" skipped="1">
  <testsuite name="org.yaml" tests="1" failures="0" errors="0" skipped="0">
    <testcase name="no findings" classname="org.yaml" file="org.yaml" time="0" />
  </testsuite>
  <testsuite name="roles/dev.yaml" tests="2" failures="1" errors="0" skipped="1">
    <testcase name="ORG301 unknown-domain role:dev" classname="roles/dev.yaml" file="roles/dev.yaml" time="0">
      <failure message="error: role `dev` handles `codegn` (did you mean `codegen`?)" type="ORG301">\
roles/dev.yaml:5:3: error: role `dev` handles `codegn` (did you mean `codegen`?)</failure>
    </testcase>
    <testcase name="ORG301 unknown-domain role:dev #2" classname="roles/dev.yaml" file="roles/dev.yaml" time="0">
      <skipped message="roles/dev.yaml:9:3: warning: role `dev` handles `codegn`" />
    </testcase>
  </testsuite>
</testsuites>
"""
    )


def test_junitparser_reads_it():
    """A parser others use sees suites, cases and results."""
    text = render_junit([a_finding(message="bad \x1b \ufffe & <b>")], ["org.yaml"], Severity.ERROR)
    suites = list(junitparser.JUnitXml.fromstring(text.encode()))
    assert [suite.name for suite in suites] == ["org.yaml", "roles/dev.yaml"]
    (case,) = suites[1]
    assert case.is_failure
    assert case.result[0].message == "error: bad \\x1b \ufffd & <b>"
    assert next(iter(suites[0])).is_passed
