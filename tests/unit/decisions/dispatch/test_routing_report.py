"""The report about declared sentences: where they lead, and which roles they confuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel import Kernel
from orgkernel.cli import cli
from orgkernel.decisions.dispatch.routing_report import RoutingReport
from tests.support.trees import write_tree

TREE = {
    "org.yaml": """
_schema: orgkernel:organization
org_id: office
hierarchy: {chief: {subordinates: [bookkeeper, archivist]}}
---
_schema: orgkernel:domain_catalog
domains:
  bookkeeping: {triggers: [book receipts], examples: [Book the receipt, File the receipt]}
  archive: {triggers: [shelve letters], examples: [File the receipts, Shelve the old letters]}
""",
    "roles.yaml": """
_schema: orgkernel:role_profile
role_id: chief
role_type: commander
description: Decides.
---
_schema: orgkernel:role_profile
role_id: bookkeeper
description: Books invoices.
capabilities: {bst_domains: [bookkeeping]}
---
_schema: orgkernel:role_profile
role_id: archivist
description: Shelves papers.
capabilities: {bst_domains: [archive]}
""",
}


@pytest.fixture
def office(tmp_path: Path) -> Path:
    write_tree(tmp_path, TREE)
    return tmp_path


def test_every_declared_sentence_is_asked(office: Path) -> None:
    """The example that two domains share is misrouted for the second one, with its line."""
    report = Kernel.open(office).report_routing("office")
    assert (report.examples, report.examples_right, report.triggers, report.triggers_right) == (4, 3, 2, 2)
    (misrouted,) = report.misrouted
    assert (misrouted.text, misrouted.role_id, misrouted.taker) == (
        "File the receipts",
        "archivist",
        "bookkeeper",
    )
    assert [(why.file.rpartition("/")[2], why.line) for why in misrouted.why] == [("org.yaml", 9)]


def test_confused_roles_come_with_the_words_that_tell_them_apart(office: Path) -> None:
    """The words are those that only one of the two roles uses, as they are written."""
    (pair,) = Kernel.open(office).report_routing("office").pairs
    assert (pair.first, pair.second) == ("archivist", "bookkeeper")
    assert {"archive", "letters", "papers"} & set(pair.words_of_first)
    assert {"book", "books", "bookkeeping", "invoices"} & set(pair.words_of_second)
    assert not set(pair.words_of_first) & set(pair.words_of_second)


def test_all_surfaces_give_the_same_report(office: Path) -> None:
    """The command line as JSON and HTTP answer as the kernel does."""
    import msgspec

    kernel = Kernel.open(office)
    report = kernel.report_routing("office")
    assert kernel.report_routing("office") is report, "a snapshot keeps its report"
    result = CliRunner().invoke(
        cli, ["routing", "report", "--org", "office", "--path", str(office), "--format", "json"]
    )
    assert msgspec.json.decode(result.stdout, type=RoutingReport) == report
    with TestClient(create_app(kernel), client=("127.0.0.1", 1)) as client:
        response = client.get("http://127.0.0.1/v1/orgs/office/routing-report")
    assert response.status_code == 200
    assert msgspec.json.decode(response.content, type=RoutingReport) == report


def test_the_report_of_a_template_has_every_example_right() -> None:
    """An example of an organization leads to its own role, in every template."""
    kernel = Kernel.open()
    for org_id in kernel.state.served:
        report = kernel.report_routing(org_id)
        assert report.examples == report.examples_right, org_id
        assert report.triggers_right >= 0.98 * report.triggers, org_id
