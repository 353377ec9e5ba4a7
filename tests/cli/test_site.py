"""`orgkernel site` writes a copy of the page: which files, and which folders it leaves alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from manifest_api.page_files import BUILT, COPY_SCRIPT, FILES
from tests.api.asking import client_of
from tests.cli.running import run
from tests.support.trees import copy_template, write_tree


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    copy_template(tmp_path / "starship", "starship")
    return tmp_path


def read_files(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {
        each.relative_to(folder).as_posix(): each.read_bytes()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }


def read_answers(content: bytes) -> dict[str, object]:
    """The answers of a file of a copy."""
    text = content.decode()
    inside = text[text.index("JSON.parse(") + len("JSON.parse(") : text.rindex('"') + 1]
    answers: dict[str, object] = json.loads(json.loads(inside))
    return answers


def test_a_copy_has_the_answers_of_the_api(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every role has the manifest that a server gives, and the same documents give the same bytes."""
    from orgkernel import Kernel

    done = run("site", "out", "--path", "starship", cwd=tree)
    assert (done.returncode, done.stderr) == (0, "")
    assert "out/index.html shows it in a browser" in done.stdout
    files = read_files(tree / "out")
    assert files["page/copy.js"] == gzip.decompress((BUILT / COPY_SCRIPT).read_bytes())
    first = read_answers(files["data/0.js"])
    places, answers = first["files"], first["answers"]
    assert isinstance(places, dict)
    assert isinstance(answers, dict)
    monkeypatch.chdir(tree)
    client = client_of(Kernel.open("starship"))
    chart = client.get("/v1/orgs/starship").json()
    assert answers["v1/orgs/starship"] == chart
    for role in chart["chart"]:
        path = f"v1/orgs/starship/roles/{role['role_id']}"
        copied = read_answers(files[f"data/{places[path]}.js"])[path]
        assert copied == client.get(f"/{path}").json()
    assert run("site", "again", "--path", "starship", cwd=tree).returncode == 0
    assert read_files(tree / "again") == files


def test_a_copy_is_not_served(tree: Path) -> None:
    """A server has the page that asks it, and not the page of a copy."""
    assert not [path for path, (name, _) in FILES.items() if name.startswith("copy.")]


def test_a_copy_replaces_a_copy_and_nothing_else(tree: Path) -> None:
    """Other files in the folder of a copy stay, old answers go, and a folder of something else is refused."""
    assert run("site", "out", "--path", "starship", cwd=tree).returncode == 0
    write_tree(tree / "out", {"CNAME": "agents.example", "data/99.js": "old", "data/notes.js": "mine"})
    assert run("site", "out", "--path", "starship", cwd=tree).returncode == 0
    files = read_files(tree / "out")
    assert (files["CNAME"], files["data/notes.js"]) == (b"agents.example", b"mine")
    assert "data/99.js" not in files
    write_tree(tree / "other", {"index.html": "<h1>Mine</h1>"})
    done = run("site", "other", "--path", "starship", cwd=tree)
    assert done.returncode == 2
    assert "`other` has files of something else" in done.stderr
    assert read_files(tree / "other") == {"index.html": b"<h1>Mine</h1>"}
    (tree / "link").symlink_to(tree / "out")
    assert "`link` is a link" in run("site", "link", "--path", "starship", cwd=tree).stderr


def test_a_copy_of_nothing_is_refused(tree: Path) -> None:
    """An organization with errors has no answers, and nothing is written."""
    (tree / "starship/org.yaml").write_text("_schema: orgkernel:organization\nhierarchy: [", encoding="utf-8")
    done = run("site", "out", "--path", "starship", cwd=tree)
    assert done.returncode == 2
    assert not (tree / "out").exists()


def test_a_copy_has_nothing_from_a_store(tree: Path) -> None:
    """A grant in the store of the project is not in the copy, whose files are the same with and without it."""
    assert run("site", "out", "--path", "starship", cwd=tree).returncode == 0
    without = read_files(tree / "out")
    assert run("key", "create", "--admin", cwd=tree).returncode == 0
    granted = run(
        "grant",
        "issue",
        "role:scout",
        "tool:query_metrics",
        "--level",
        "read",
        "--path",
        "starship",
        cwd=tree,
    )
    assert granted.returncode == 0, granted.stderr
    assert run("site", "out", "--path", "starship", cwd=tree).returncode == 0
    assert read_files(tree / "out") == without
