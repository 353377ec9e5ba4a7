"""The documentation shows what really happens: what a page shows is done in its order, and compared."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import click
import pytest

from manifest_api.openapi import build_openapi
from orgkernel.cli import cli
from orgkernel.loading.files import Root
from orgkernel.loading.tree import read_tree
from orgkernel.runtime.trigger_parser import parse_trigger
from tests.docs.shown import BIN, Command, File, Reader, console_blocks, steps_of
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, write_tree

PAGES = {
    str(path.relative_to(REPOSITORY)): path.read_text(encoding="utf-8")
    for path in [
        REPOSITORY / "README.md",
        REPOSITORY / "CONTRIBUTING.md",
        *(REPOSITORY / "docs").rglob("*.md"),
    ]
}
FOLLOWED = {"docs/mission.md"}
"""Pages that a test of their own follows: `tests/demo/test_mission.py`."""
SHOWING = sorted(name for name, text in PAGES.items() if name not in FOLLOWED and any(steps_of(text)))


@pytest.fixture
def reader(tmp_path: Path, request: pytest.FixtureRequest) -> Reader:
    """In an empty folder, or for the pages of the repository in one that looks like a checkout."""
    if not request.node.callspec.params["name"].startswith("docs/"):
        for name in ("ontology", "templates", "orgkernel.toml"):
            (tmp_path / name).symlink_to(REPOSITORY / name)
    return Reader(tmp_path)


@pytest.mark.parametrize("name", SHOWING)
def test_a_page_shows_what_happens(name: str, reader: Reader) -> None:
    """Files are written, commands run, and their output is what stands below them."""
    reader.follow(PAGES[name])
    assert reader.ran


def test_no_command_is_passed_over() -> None:
    """Every line of a console block is a command or the output of one."""
    for name, text in PAGES.items():
        blocks = re.findall(r"^ *```console\b[^\n]*\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
        assert all(block.lstrip().startswith("$ ") for block in blocks), name
        shown = sum(len(re.findall(r"^ *\$ ", block, re.MULTILINE)) for block in blocks)
        commands = [step for step in steps_of(text) if isinstance(step, Command)]
        assert len(commands) - text.count("\n<!-- run: ") == shown, name
        assert not re.search(r"```(sh|bash|shell)\b", text), name


def test_the_text_names_the_files_it_shows() -> None:
    """Titles of blocks are not shown everywhere that Markdown is."""
    for name, text in PAGES.items():
        assert [
            step.name for step in steps_of(text) if isinstance(step, File) and f"`{step.name}`" not in text
        ] == [], name


def test_workflows_that_are_shown_are_valid(tmp_path: Path) -> None:
    """A reader copies them as they stand."""
    shown = [step for text in PAGES.values() for step in steps_of(text) if isinstance(step, File)]
    workflows = [step for step in shown if step.name.startswith(".github/workflows/")]
    assert workflows
    for number, step in enumerate(workflows):
        (tmp_path / f"{number}.yml").write_text(step.text, encoding="utf-8")
    done = subprocess.run(
        [BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *tmp_path.iterdir()],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_the_start_shows_enough() -> None:
    """The README and the tutorial are run, not only linked."""
    for name in ("README.md", "docs/tutorial.md"):
        assert len(list(console_blocks(PAGES[name]))) >= 7


def test_links_lead_somewhere() -> None:
    """Every relative link in the documentation names a file that exists."""
    missing = [
        f"{name}: {link}"
        for name, text in PAGES.items()
        for link in re.findall(r"\]\(([^)#:\s]+)\)", text)
        if not ((REPOSITORY / name).parent / link).exists()
    ]
    assert missing == []


def test_no_step_is_hidden() -> None:
    """What a reader must do is visible: a page holds no comment that runs something."""
    for name, text in PAGES.items():
        assert "<!-- run" not in text, name


def test_no_host_is_named() -> None:
    """Addresses are of this machine, or reserved for examples; nothing depends on where the project lives."""
    for name, text in PAGES.items():
        hosts = set(re.findall(r"https?://([^/\s:`)\"']+)", text))
        assert {each for each in hosts if not each.endswith(".example")} <= {"127.0.0.1", "localhost"}, name


BLOCKS = [
    (name, language, body)
    for name, text in PAGES.items()
    for language, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
]


def test_documents_that_are_shown_are_read_without_a_finding(tmp_path: Path) -> None:
    """Whatever declares its kind has the shape of it."""
    shown = [body for _, language, body in BLOCKS if language == "yaml" and body.startswith("_schema: ")]
    whole = [body for body in shown if "role_id: " in body]
    assert whole
    files = {f"{number}.yaml": body for number, body in enumerate(whole)}
    read_back = read_tree([Root(str(write_tree(tmp_path, files)), "")])
    assert [str(each) for each in read_back.diagnostics] == []
    assert len(read_back.documents) == len(whole)


def test_triggers_that_are_shown_are_triggers() -> None:
    """Each line of the first block of their page."""
    language, body = next((language, body) for name, language, body in BLOCKS if name == "docs/triggers.md")
    assert language == ""
    for line in body.splitlines():
        assert parse_trigger(line).problems == (), line


def test_routes_that_are_named_exist() -> None:
    """With their method."""
    known = {f"{method.upper()} {path}" for path, each in build_openapi()["paths"].items() for method in each}
    for name, text in PAGES.items():
        named = set(re.findall(r"`((?:GET|POST|PUT|DELETE|PATCH) /[^`?\s]*)", text))
        assert named <= known, f"{name}: {named - known}"


def test_commands_that_are_named_exist() -> None:
    """In the text, where they are not run."""
    known = set(cli.list_commands(click.Context(cli)))
    for name, text in PAGES.items():
        named = set(re.findall(r"`orgkernel ([a-z][a-z-]*)", text))
        assert named <= known, f"{name}: {named - known}"


@pytest.mark.parametrize(
    ("page", "because"),
    [
        ("```console\n$ orgkernel --version\norgkernel 9\n```\n", "orgkernel 0"),
        ("```console\n$ orgkernel check nowhere\n```\n", "nowhere"),
        ("```console\n$ echo one | cat\ntwo\n```\n", "one"),
        ("```console\n$ make nothing\n```\n", "no target"),
        ('```yaml title="a.txt"\none\n```\n\n```console\n$ cat a.txt | cat\ntwo\n```\n', "one"),
        ("```python\n>>> 1 + 1\n3\n\n```\n", "Expected"),
    ],
)
def test_a_page_that_is_not_true_is_noticed(page: str, because: str, tmp_path: Path) -> None:
    """Otherwise that all pages pass would say nothing."""
    with pytest.raises(AssertionError, match=re.escape(because)):
        Reader(tmp_path).follow(page)
