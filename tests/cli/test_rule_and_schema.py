"""`orgkernel rule` and `orgkernel schema`: what a code means, what a document may hold."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from orgkernel.documents.model.kinds import KINDS
from orgkernel.rules.pages import build_all_pages
from tests.support.in_process import run_here as run


def test_a_rule_prints_its_page(tmp_path: Path) -> None:
    """By code in any case, or by name."""
    page = build_all_pages()["ORG202"].text
    for word in ("ORG202", "org202", "unknown-superior"):
        done = run("rule", word, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, page, "")
    assert page.startswith("# ORG202 unknown-superior\n")


def test_without_a_code_every_rule_is_listed_on_a_line(tmp_path: Path) -> None:
    """Code, severity, name and what it says, in the order of the codes."""
    done = run("rule", cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == sorted(build_all_pages())
    assert all(line.split()[1] in ("error", "warning", "info") for line in lines)


@pytest.mark.parametrize("word", ["ORG999", "nonsense", "", "../ORG202", "ORG202\x1b[31m", "é" * 10_000])
def test_an_unknown_rule_is_exit_2(tmp_path: Path, word: str) -> None:
    """In a line or two, without what a terminal would act on."""
    done = run("rule", word, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: there is no rule `")
    assert len(done.stderr) < 300
    assert "\x1b" not in done.stderr


def test_a_misspelled_name_of_a_rule_gets_a_suggestion(tmp_path: Path) -> None:
    """Names are words, and words are misspelled."""
    assert "did you mean `unknown-superior`?" in run("rule", "unknown-superor", cwd=tmp_path).stderr


def test_every_kind_has_a_schema(tmp_path: Path) -> None:
    """The kinds that are read and the manifest that is emitted; each is valid JSON Schema."""
    kinds = run("schema", cwd=tmp_path).stdout.split()
    assert kinds == [*KINDS, "crew_manifest"]
    for kind in ("role_profile", "crew_manifest"):
        done = run("schema", kind, cwd=tmp_path)
        schema = json.loads(done.stdout)
        assert schema["title"] == f"orgkernel {kind}"
        jsonschema.Draft202012Validator.check_schema(schema)


def test_an_unknown_kind_is_exit_2(tmp_path: Path) -> None:
    """With a suggestion."""
    done = run("schema", "role_profil", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: there is no kind `role_profil`\nhelp: did you mean `role_profile`?\n"
