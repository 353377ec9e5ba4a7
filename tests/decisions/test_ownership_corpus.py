"""Audits of changed files with complete answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orgkernel.decisions.ownership.audit import OwnershipAudit, audit_changes
from orgkernel.decisions.ownership.changes import ChangedFiles
from orgkernel.decisions.ownership.owners import AuditedWorker
from orgkernel.decisions.ownership.sacred import SacredFiles
from orgkernel.documents.records import Brief, BriefScope, BriefSpec, SacredScope
from tests.support.yaml_text import read_yaml_file

CORPUS = {
    path.stem: read_yaml_file(path)
    for path in sorted((Path(__file__).parent / "ownership_corpus").glob("*.yaml"))
}
CASES = [
    pytest.param({**file, **case}, id=f"{name}: {case['name']}")
    for name, file in CORPUS.items()
    for case in file["cases"]
]


def audited(case: Mapping[str, Any]) -> OwnershipAudit:
    """The answer to a case."""
    workers = [_worker(name, owned) for name, owned in case["workers"].items()]
    files = [
        each if isinstance(each, dict) else {"path": each, "change": "modified"} for each in case["files"]
    ]
    commits = [
        {"id": str(number), "paths": paths, "briefs": [] if brief == "-" else [brief]}
        for number, (brief, *paths) in enumerate(case["commits"])
    ]
    changed = msgspec.convert({"files": files, "commits": commits}, ChangedFiles)
    return audit_changes(changed, workers, sacred=_sacred(case), is_union=case.get("union", False))


def _sacred(case: Mapping[str, Any]) -> SacredFiles:
    return SacredFiles(msgspec.convert(case.get("governance", {}), dict[str, SacredScope]))


def _worker(name: str, owned: Any) -> AuditedWorker:
    scope = dict(owned) if isinstance(owned, dict) else {"files_owned": owned}
    parent = scope.pop("parent", None)
    spec = BriefSpec(scope=msgspec.convert(scope, BriefScope))
    return AuditedWorker(name, Brief(id=name, parent=parent, spec=spec))


@pytest.mark.parametrize("case", CASES)
def test_a_case(case: Mapping[str, Any]) -> None:
    """The findings come in their order, and the first one names the answer."""
    answer = audited(case)
    found = [f"{each.code} {each.path or '-'} {each.worker or '-'}" for each in answer.findings]
    assert (answer.outcome, found) == (case["answer"], case.get("findings", []))
    assert answer.code == (found[0].partition(" ")[0] if found else None)
