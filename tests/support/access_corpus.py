"""The organizations of `access_corpus`, each held by a kernel, for every test that asks them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from orgkernel.documents.records import Case, DecisionCases
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.files import Root
from orgkernel.loading.sources import SourceDocument
from orgkernel.loading.tree import read_tree
from orgkernel.rules.catalog import list_rules
from orgkernel.snapshots.roots import resolve_paths
from tests.support.trees import write_tree
from tests.support.yaml_text import read_yaml_file

CORPUS = {
    path.stem: read_yaml_file(path)
    for path in sorted((Path(__file__).parents[1] / "decisions" / "access_corpus").glob("*.yaml"))
}


class Organization:
    """One organization of the corpus, held by a kernel, with its cases read as a user's are."""

    def __init__(self, folder: Path, file: dict[str, Any]) -> None:
        # Caps that contradict a role are findings, and what these organizations are made of.
        caps = {code: None for code in (rule.code for rule in list_rules()) if code.startswith("ORG4")}
        self.folder = write_tree(folder / "org", file["files"])
        settings = "[severities]\n" + "".join(f'{code} = "off"\n' for code in caps)
        (self.folder / "orgkernel.toml").write_text(settings, encoding="utf-8")
        paths = resolve_paths([str(self.folder)], str(folder))
        self.kernel = Kernel(paths, severities=caps)
        assert [found.message for found in self.kernel.check() if found.severity.value == "error"] == []
        self.snapshot = self.kernel.organization(file["org"]).snapshot
        document = {"_schema": "orgkernel:decision_cases", "cases": file["cases"]}
        text = yaml.safe_dump(document, sort_keys=False)
        tree = read_tree([Root(str(write_tree(folder / "cases", {"cases.yaml": text})), "")])
        assert tree.diagnostics == ()
        self.document: SourceDocument = tree.documents[0]

    def case(self, number: int) -> Case:
        assert isinstance(self.document.record, DecisionCases)
        return self.document.record.cases[number]
