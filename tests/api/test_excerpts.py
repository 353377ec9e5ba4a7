"""The lines of documents, and the pages of rules."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orgkernel.kernel.kernel import Kernel
from tests.api.asking import client_of, problem
from tests.support.trees import copy_template, write_tree

ORG = "/v1/orgs/starship"
SCOUT = "starship/roles/scout.yaml"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the starship in the current folder, so that its files have short names."""
    monkeypatch.chdir(tmp_path)
    return copy_template(tmp_path / "starship", "starship")


def test_the_lines_around_a_place_are_shown(tree: Path) -> None:
    """With their numbers; at the beginning of a file there are fewer before it. Catalogs of every organization have lines too."""
    text = (tree / "roles/scout.yaml").read_text(encoding="utf-8").splitlines()
    with client_of(Kernel.open(str(tree))) as client:
        answer = client.get(f"{ORG}/lines", params={"file": SCOUT, "line": 26, "around": 2}).json()
        assert (answer["first"], answer["lines"], answer["is_stale"]) == (24, text[23:28], False)
        first = client.get(f"{ORG}/lines", params={"file": SCOUT, "line": 1}).json()
        assert (first["first"], first["lines"]) == (1, text[:4])
        shared = client.get(f"{ORG}/lines", params={"file": "ontology/tools.yaml", "line": 3}).json()
        assert len(shared["lines"]) == 6


@pytest.mark.parametrize(
    "file",
    [
        "../secret.yaml",
        "/etc/passwd",
        "starship/../secret.yaml",
        "starship/roles/../roles/scout.yaml",
        "starship/nothing.yaml",
        "starship/cases.txt",
        "other/org.yaml",
        "software_dev/org.yaml",
    ],
)
def test_only_documents_of_the_organization_are_shown(tmp_path: Path, tree: Path, file: str) -> None:
    """A name is looked up among the files that were read, and is never a path to open. Another organization has its own."""
    (tmp_path / "secret.yaml").write_text("password: hunter2\n", encoding="utf-8")
    (tree / "cases.txt").write_text("notes\n", encoding="utf-8")
    other = copy_template(tmp_path / "software_dev", "software_dev")
    with client_of(Kernel.open(str(tree), str(other))) as client:
        params: dict[str, str | int] = {"file": file, "line": 1}
        problem(client.get(f"{ORG}/lines", params=params), 404, "UNKNOWN_LINES")


def test_lines_that_changed_since_are_not_shown(tree: Path) -> None:
    """Until the server has read them again: a place of an answer would be elsewhere."""
    kernel = Kernel.open(str(tree))
    profile = tree / "roles/scout.yaml"
    params: dict[str, str | int] = {"file": SCOUT, "line": 9}
    with client_of(kernel) as client:
        profile.write_text("# new\n" + profile.read_text(encoding="utf-8"), encoding="utf-8")
        problem(client.get(f"{ORG}/lines", params=params), 404, "UNKNOWN_LINES")
        kernel.reload()
        assert client.get(f"{ORG}/lines", params=params).status_code == 200
        problem(client.get(f"{ORG}/lines", params=params | {"line": 9_999}), 404, "UNKNOWN_LINES")


def test_a_line_of_an_organization_with_errors_is_marked(tree: Path) -> None:
    """It answers from an earlier version, so its places could be elsewhere."""
    kernel = Kernel.open(str(tree))
    organization = tree / "org.yaml"
    with client_of(kernel) as client:
        organization.write_text(organization.read_text(encoding="utf-8") + "broken: [\n", encoding="utf-8")
        kernel.reload()
        params: dict[str, str | int] = {"file": "starship/org.yaml", "line": 1}
        assert client.get(f"{ORG}/lines", params=params).json()["is_stale"] is True


def test_secrets_are_masked_and_a_link_out_of_the_folder_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line has no value that could be a secret, and a file that a link leads to is not shown."""
    monkeypatch.chdir(tmp_path)
    secret = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY"
    head = "_schema: orgkernel:organization\norg_id: shop\nhierarchy: {boss: {}}\n"
    write_tree(
        tmp_path / "shop",
        {
            "org.yaml": head + f"# {secret}\n" + f"# {'x' * 3_000}\n",
            "boss.yaml": "_schema: orgkernel:role_profile\nrole_id: boss\nrole_type: commander\n",
        },
    )
    (tmp_path / "elsewhere.yaml").write_text("_schema: orgkernel:crew_roster\norg: shop\n", encoding="utf-8")
    os.symlink(tmp_path / "elsewhere.yaml", tmp_path / "shop/crew.yaml")
    with client_of(Kernel.open(str(tmp_path / "shop"))) as client:
        answer = client.get("/v1/orgs/shop/lines", params={"file": "shop/org.yaml", "line": 4}).json()
        assert secret not in str(answer)
        assert max(map(len, answer["lines"])) <= 401
        linked: dict[str, str | int] = {"file": "shop/crew.yaml", "line": 1}
        problem(client.get("/v1/orgs/shop/lines", params=linked), 404, "UNKNOWN_LINES")


def test_the_pages_of_rules_are_served(tree: Path) -> None:
    """The list has every code in order, and a page is what `orgkernel rule` prints."""
    with client_of(Kernel.open(str(tree))) as client:
        rules = client.get("/v1/rules").json()["rules"]
        codes = [each["code"] for each in rules]
        assert codes == sorted(set(codes))
        assert "ORG202" in codes
        page = client.get("/v1/rules/ORG202").json()
        assert page["name"] == "unknown-superior"
        assert "## Why it matters" in page["text"]
        problem(client.get("/v1/rules/ORG999"), 404, "UNKNOWN_RULE")
        problem(client.get("/v1/rules/nothing"), 422, "INVALID_REQUEST")
