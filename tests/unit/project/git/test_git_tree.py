"""Trees of a git repository: what is looked up, what is written, and what never is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from orgkernel.errors import UsageError
from orgkernel.project.git.tree import Repository, find_repository, find_tree, written_tree


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with one commit and nothing of the settings around it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    folder = tmp_path / "repository"
    (folder / "deep/er").mkdir(parents=True)
    (folder / "deep/er/one.yaml").write_text("one\n")
    (folder / "deep/two.txt").write_text("two\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "a: b")
    return Repository(str(folder))


def git(folder: Path | str, *arguments: str, input: bytes = b"") -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, input=input, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def made_tree(repository: Repository, *entries: tuple[str, str, bytes]) -> str:
    """A tree of any entries, also of such as git itself would not make: mode, name, content."""
    raw = b""
    for mode, name, content in entries:
        if mode == "40000":
            object_id = content.decode()
        else:
            object_id = git(repository.folder, "hash-object", "-w", "--stdin", input=content)
        raw += f"{mode} {name}".encode() + b"\0" + bytes.fromhex(object_id)
    return git(repository.folder, "hash-object", "-t", "tree", "--literally", "-w", "--stdin", input=raw)


def files_below(top: str) -> dict[str, str]:
    return {str(path.relative_to(top)): path.read_text() for path in Path(top).rglob("*") if path.is_file()}


def test_the_repository_of_a_path_that_is_gone(repository: Repository) -> None:
    """A path is looked up from the nearest folder that exists."""
    assert find_repository(f"{repository.folder}/deep/gone/further.yaml") == repository


def test_a_bare_repository(repository: Repository, tmp_path: Path) -> None:
    """Without a work tree revisions can be read all the same."""
    git(tmp_path, "clone", "--quiet", "--bare", repository.folder, "bare.git")
    bare = find_repository(str(tmp_path / "bare.git"))
    assert bare == Repository(str(tmp_path / "bare.git"))
    with written_tree(bare, find_tree(bare, "HEAD"), ()) as top:
        assert files_below(top) == {"deep/er/one.yaml": "one\n"}


def test_only_what_could_be_a_document_is_written(repository: Repository) -> None:
    """Other files are left out unless they are asked for by name, and everything is gone afterwards."""
    with written_tree(repository, find_tree(repository, "HEAD"), ("deep/two.txt",)) as top:
        assert files_below(top) == {"deep/er/one.yaml": "one\n", "deep/two.txt": "two\n"}
    assert not Path(top).exists()


@pytest.mark.parametrize("revision", ["HEAD", "HEAD^{tree}", "HEAD^{/a: b}", "HEAD@{0}"])
def test_every_way_to_name_a_revision(repository: Repository, revision: str) -> None:
    """Whatever git takes for a commit or a tree."""
    assert find_tree(repository, revision) == git(repository.folder, "rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize(
    "revision",
    ["", "nothing", "--help", "-p", "--git-dir", "--output=x", "^HEAD", "HEAD..HEAD", "HEAD HEAD", "HEAD\nHEAD", "@{-9}", "💥", "HEAD\0"],
)  # fmt: skip
def test_what_is_no_revision(repository: Repository, revision: str) -> None:
    """Refused with a message, and never taken for an option."""
    with pytest.raises(UsageError, match="is not a revision in the repository"):
        find_tree(repository, revision)


def test_names_that_lead_out_of_the_tree(repository: Repository) -> None:
    """A tree that git would not have made writes nothing outside of the folder."""
    inner = made_tree(repository, ("100644", "evil.yaml", b"evil"))
    tree = made_tree(repository, ("40000", "..", inner.encode()), ("100644", "good.yaml", b"good"))
    with written_tree(repository, tree, ()) as top:
        assert files_below(top) == {"good.yaml": "good"}
        assert not (Path(top).parent / "evil.yaml").exists()


def test_links_that_lead_out_of_the_tree(repository: Repository, tmp_path: Path) -> None:
    """Links are made only where they stay inside, and nothing is written through one."""
    (tmp_path / "outside").mkdir()
    inner = made_tree(repository, ("120000", "link.yaml", b"../good.yaml"))
    tree = made_tree(
        repository,
        ("120000", "absolute", str(tmp_path / "outside").encode()),
        ("100644", "good.yaml", b"good"),
        ("120000", "inside.yaml", b"good.yaml"),
        ("120000", "up", b"../../../../../../../.."),
        ("120000", "through", b"up"),
        ("40000", "up", inner.encode()),
    )
    with written_tree(repository, tree, ()) as top:
        assert sorted(os.listdir(top)) == ["good.yaml", "inside.yaml"]
        assert os.path.realpath(f"{top}/inside.yaml") == os.path.realpath(f"{top}/good.yaml")
    assert list((tmp_path / "outside").iterdir()) == []
