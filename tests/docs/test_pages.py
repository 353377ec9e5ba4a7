"""The documentation shows what really happens: what a page shows is done in its order, and compared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from manifest_api.openapi import build_openapi
from orgkernel import __version__
from orgkernel.cli import cli
from orgkernel.exchange.formats import EXPORTS
from orgkernel.loading.files import Root
from orgkernel.loading.tree import read_tree
from orgkernel.runtime.trigger_parser import parse_trigger
from tests.docs.shown import BIN, Command, File, Reader, console_blocks, steps_of
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, write_tree
from tools.site_sources import generated_pages

HAND_WRITTEN = {
    str(path.relative_to(REPOSITORY)): path.read_text(encoding="utf-8")
    for path in [
        REPOSITORY / "README.md",
        REPOSITORY / "CHANGELOG.md",
        REPOSITORY / "CONTRIBUTING.md",
        *(REPOSITORY / "docs").rglob("*.md"),
    ]
}
FRONT_PAGE = "docs/index.md"
CLIENT_PAGES = {f"docs/how-to/http-client-{language}.md" for language in ("python", "typescript")}
FOLLOWED = {"docs/mission.md", FRONT_PAGE, *CLIENT_PAGES}
"""Pages that are followed elsewhere: in `tests/demo/test_mission.py`, in `tests/interop/test_http_clients.py`, and as
`README.md`, which is the site's front page.
"""
GENERATED_AND_SHOWING = "docs/reference/commands.md"
SHOWING = sorted(
    [name for name, text in HAND_WRITTEN.items() if name not in FOLLOWED and any(steps_of(text))]
    + [GENERATED_AND_SHOWING]
)


@pytest.fixture(scope="session")
def pages() -> dict[str, str]:
    """Every page by its path, those that are built with the site included."""
    return HAND_WRITTEN | generated_pages()


@pytest.fixture(scope="session")
def blocks(pages: dict[str, str]) -> list[tuple[str, str, str]]:
    """The blocks of code without a title: page, language, text."""
    return [
        (name, language, body)
        for name, text in pages.items()
        for language, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


@pytest.fixture
def reader(tmp_path: Path, request: pytest.FixtureRequest) -> Reader:
    """In an empty folder, or for the pages of the repository in one that looks like a checkout."""
    if not request.node.callspec.params["name"].startswith("docs/"):
        for name in ("ontology", "templates"):
            shutil.copytree(REPOSITORY / name, tmp_path / name)
        shutil.copy(REPOSITORY / "orgkernel.toml", tmp_path)
    return Reader(tmp_path)


@pytest.mark.parametrize("name", SHOWING)
def test_a_page_shows_what_happens(name: str, reader: Reader, pages: dict[str, str]) -> None:
    """Files are written, commands run, and their output is what stands below them."""
    reader.follow(pages[name])
    assert reader.ran


def test_every_page_that_shows_something_is_run(pages: dict[str, str]) -> None:
    """Of the generated pages, only the one about commands shows something to run."""
    assert {name for name, text in pages.items() if any(steps_of(text))} == FOLLOWED | set(SHOWING)


def test_no_command_is_passed_over(pages: dict[str, str]) -> None:
    """Every line of a console block is a command or the output of one."""
    for name, text in pages.items():
        blocks = re.findall(r"^ *```console\b[^\n]*\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
        assert all(block.lstrip().startswith("$ ") for block in blocks), name
        shown = sum(len(re.findall(r"^ *\$ ", block, re.MULTILINE)) for block in blocks)
        commands = [step for step in steps_of(text) if isinstance(step, Command)]
        assert len(commands) - text.count("\n<!-- run: ") == shown, name
        assert not re.search(r"```(sh|bash|shell)\b", text), name


def test_the_text_names_the_files_it_shows(pages: dict[str, str]) -> None:
    """Titles of blocks are not shown everywhere that Markdown is."""
    for name, text in pages.items():
        assert [
            step.name for step in steps_of(text) if isinstance(step, File) and f"`{step.name}`" not in text
        ] == [], name


def test_workflows_that_are_shown_are_valid(tmp_path: Path, pages: dict[str, str]) -> None:
    """A reader copies them as they stand."""
    shown = [step for text in pages.values() for step in steps_of(text) if isinstance(step, File)]
    workflows = [step for step in shown if step.name.startswith(".github/workflows/")]
    assert workflows
    for number, step in enumerate(workflows):
        (tmp_path / f"{number}.yml").write_text(step.text, encoding="utf-8")
    done = subprocess.run(
        [BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *tmp_path.iterdir()],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_the_front_page_of_the_site_is_the_readme(pages: dict[str, str]) -> None:
    """Only the targets of links differ; a link to a page keeps its words, and one to a file beside `docs/` leaves them."""
    shown = [re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", pages[name]) for name in ("README.md", FRONT_PAGE)]
    assert shown[0] == shown[1]
    assert "(docs/" not in pages[FRONT_PAGE]
    assert (
        len(re.findall(r"\]\(", pages[FRONT_PAGE])) >= len(re.findall(r"\]\(docs/", pages["README.md"])) > 20
    )


def test_the_start_shows_enough(pages: dict[str, str]) -> None:
    """The README and the tutorial are run, not only linked."""
    for name in ("README.md", "docs/tutorial.md"):
        assert len(list(console_blocks(pages[name]))) >= 7


def test_every_export_is_shown(pages: dict[str, str]) -> None:
    """Each format is a row of the table of formats for agents, or a page runs `orgkernel export` to it."""
    table = re.findall(r"^\| \[?`([a-z][a-z0-9-]*)`", pages["docs/how-to/export-agents.md"], re.MULTILINE)
    commands = [step.text for text in pages.values() for step in steps_of(text) if isinstance(step, Command)]
    run = {target for text in commands for target in re.findall(r"orgkernel export .*--to ([\w-]+)", text)}
    assert {*table, *run} == EXPORTS.keys()


def test_the_changelog_is_about_this_version() -> None:
    """Its first section is the version of the package."""
    first = re.search(r"^## (\S+)", HAND_WRITTEN["CHANGELOG.md"], re.MULTILINE)
    assert first
    assert first[1] == __version__


def test_links_lead_somewhere(pages: dict[str, str]) -> None:
    """Every relative link in the documentation names a file of the repository, or between pages of the site one of its pages."""
    missing = []
    for name, text in pages.items():
        for link in re.findall(r"\]\(([^)#:\s]+)\)", text):
            target = os.path.normpath(Path(name).parent / link)
            if not (REPOSITORY / target).exists() and not (name.startswith("docs/") and target in pages):
                missing.append(f"{name}: {link}")
    assert missing == []


def test_files_that_contributors_are_sent_to_exist() -> None:
    """Every path in `CONTRIBUTING.md` whose name is not left to the contributor."""
    named = set(
        re.findall(
            r"`((?:orgkernel|manifest_api|tests|tools|docs)/[\w./-]+)`", HAND_WRITTEN["CONTRIBUTING.md"]
        )
    )
    placeholders = re.compile("[A-Z]{3}|nnn|its_name")
    assert len(named) > 30
    assert [
        path for path in sorted(named) if not placeholders.search(path) and not (REPOSITORY / path).exists()
    ] == []


def test_no_step_is_hidden(pages: dict[str, str]) -> None:
    """What a reader must do is visible: a page holds no comment that runs something."""
    for name, text in pages.items():
        assert "<!-- run" not in text, name


def test_no_host_is_named(pages: dict[str, str]) -> None:
    """Addresses are of this machine, or reserved for examples; nothing depends on where the project lives."""
    for name, text in pages.items():
        hosts = set(re.findall(r"https?://([^/\s:`)\"']+)", text))
        reserved = (".example", ".example.com")  # RFC 2606
        assert {each for each in hosts if not each.endswith(reserved)} <= {"127.0.0.1", "localhost"}, name


def test_documents_that_are_shown_are_read_without_a_finding(
    tmp_path: Path, blocks: list[tuple[str, str, str]]
) -> None:
    """Whatever declares its kind has the shape of it."""
    shown = [body for _, language, body in blocks if language == "yaml" and body.startswith("_schema: ")]
    whole = [body for body in shown if "role_id: " in body]
    assert whole
    files = {f"{number}.yaml": body for number, body in enumerate(whole)}
    read_back = read_tree([Root(str(write_tree(tmp_path, files)), "")])
    assert [str(each) for each in read_back.diagnostics] == []
    assert len(read_back.documents) == sum(
        len(re.findall(r"^_schema: ", body, re.MULTILINE)) for body in whole
    )


def test_triggers_that_are_shown_are_triggers(blocks: list[tuple[str, str, str]]) -> None:
    """Each line of the first block of their page."""
    language, body = next((language, body) for name, language, body in blocks if name == "docs/triggers.md")
    assert language == ""
    for line in body.splitlines():
        assert parse_trigger(line).problems == (), line


def test_routes_that_are_named_exist(pages: dict[str, str]) -> None:
    """With their method."""
    known = {f"{method.upper()} {path}" for path, each in build_openapi()["paths"].items() for method in each}
    for name, text in pages.items():
        named = set(re.findall(r"`((?:GET|POST|PUT|DELETE|PATCH) /[^`?\s]*)", text))
        assert named <= known, f"{name}: {named - known}"


def test_commands_that_are_named_exist(pages: dict[str, str]) -> None:
    """In the text, where they are not run."""
    known = set(cli.list_commands(click.Context(cli)))
    for name, text in pages.items():
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
