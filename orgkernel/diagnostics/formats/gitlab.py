"""Renders the report that GitLab reads as `codequality`: a JSON list that a merge request compares with its target
branch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from orgkernel.diagnostics.diagnostic import Diagnostic, Severity, fingerprint_findings
from orgkernel.diagnostics.render import sentence
from orgkernel.diagnostics.wording import clean

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render_gitlab(diagnostics: Iterable[Diagnostic]) -> str:
    """A list of objects. File names must be relative to the repository."""
    report = [
        {
            "description": f"{diagnostic.name}: {sentence(diagnostic)}",
            "check_name": diagnostic.code,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[diagnostic.severity],
            "location": {"path": clean(diagnostic.place.file), "lines": {"begin": diagnostic.place.line}},
        }
        for diagnostic, fingerprint in fingerprint_findings(diagnostics)
    ]
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
