"""The code quality report of GitLab."""

from __future__ import annotations

import json

from hypothesis import given

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.formats.gitlab import render_gitlab
from tests.support.findings import TOKEN, a_finding, several


@given(several)
def test_every_finding_is_a_whole_entry(found):
    """All fields that GitLab requires, a severity that it knows, and a unique fingerprint."""
    report = json.loads(render_gitlab(found))
    assert len(report) == len(found)
    assert len({entry["fingerprint"] for entry in report}) == len(found)
    for entry, each in zip(report, found, strict=True):
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert entry["location"]["lines"] == {"begin": each.place.line}
        assert "\n" not in entry["description"]
        assert TOKEN not in entry["description"]


def test_the_exact_report():
    """What the merge request compares with the target branch."""
    (entry,) = json.loads(
        render_gitlab([a_finding(help="did you mean `codegen`?", severity=Severity.WARNING)])
    )
    fingerprint = entry.pop("fingerprint")
    assert len(fingerprint) == 32
    assert entry == {
        "description": "unknown-domain: role `dev` handles `codegn` (did you mean `codegen`?)",
        "check_name": "ORG301",
        "severity": "minor",
        "location": {"path": "roles/dev.yaml", "lines": {"begin": 5}},
    }


def test_no_findings_is_an_empty_report():
    """GitLab takes it as all clean, and a missing report as nothing to compare with."""
    assert render_gitlab([]) == "[]\n"
