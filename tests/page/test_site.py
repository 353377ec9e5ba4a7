"""A copy without a server (`orgkernel site`), opened from the disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.page.accessibility import find_violations
from tests.page.conftest import write_hostile
from tests.page.test_views import click
from tests.support.browser import Page
from tests.support.trees import copy_template

pytestmark = pytest.mark.browser
VIEWS = {
    "#/": "Starship",
    "#/orgs/starship/organization": "Chief Engineer",
    "#/orgs/starship/organization?view=table": "Forge",
    "#/orgs/starship/organization?overlay=all&regions=department": "hand-offs between the roles that are shown",
    "#/orgs/starship/roles/scout?show=graph": "Who approves is not in a copy",
    "#/orgs/starship/roles/builder": "Chain of command",
    "#/orgs/starship/agents/abacus": "How it could rise",
    "#/orgs/starship/bills/general_quarters": "Hold the threat off",
    "#/orgs/starship/changes": "scout loses tool issue_tracker at level read",
    "#/findings": "ORG602",
    "#/orgs/starship/access?subject=role%3Ascout": "This view needs a server",
    "#/orgs/starship/roles/nobody": "a copy without a server",
    "#/orgs/hostile/roles/boss": "<img",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy of two organizations, with what changed in one of them."""
    folder = tmp_path_factory.mktemp("site")
    copy_template(folder / "before" / "starship", "starship")
    profile = copy_template(folder / "now" / "starship", "starship") / "roles/scout.yaml"
    text = profile.read_text(encoding="utf-8")
    profile.write_text(text.replace("    - {tool: issue_tracker, level: read}\n", ""), encoding="utf-8")
    write_hostile(folder / "now")
    done = run("site", "out", "--path", "now", "--against", "before", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.fixture(autouse=True)
def _quiet(page: Page) -> Iterator[None]:
    """The console stays empty, and only files of the copy are requested."""
    page.show_as(1280, 900)
    page.forget()
    yield
    assert page.problems == []
    assert [each for each in page.requested if not each.startswith(("file:///", "about:"))] == []


@pytest.mark.parametrize("address", VIEWS)
def test_a_view_opens_from_the_disk(page: Page, copy: Path, address: str) -> None:
    """Under its security policy, accessible, and not wider than 360 pixels."""
    page.open("about:blank#")
    page.open(f"{(copy / 'index.html').as_uri()}{address}")
    page.wait(f"document.querySelector('main')?.innerText.includes({json.dumps(VIEWS[address])})")
    assert page.run(
        "[document.querySelectorAll('main img, main script, main b').length, window.ran ?? 0]"
    ) == [0, 0]
    assert "A copy without a server" in page.text()
    assert "does not contain their text" in page.text()
    page.show_as(360, 800)
    assert page.run("document.documentElement.scrollWidth") <= 360
    assert page.problems == []
    assert find_violations(page) == []
    page.forget()  # axe asks for the style sheet again, which the policy refuses


def test_a_role_is_loaded_when_it_is_opened(page: Page, copy: Path) -> None:
    """The first view needs one file of answers; a role needs few more, and not all."""
    page.open("about:blank#")
    page.forget()
    page.open(f"{(copy / 'index.html').as_uri()}#/orgs/starship/organization")
    page.wait("document.querySelector('main')?.innerText.includes('Chief Engineer')")
    loaded = [each.rpartition("/data/")[2] for each in page.requested if "/data/" in each]
    assert loaded == ["0.js"]
    click(page, "a[href='#/orgs/starship/roles/builder']")
    page.wait("document.querySelector('main')?.innerText.includes('Chain of command')")
    loaded = [each.rpartition("/data/")[2] for each in page.requested if "/data/" in each]
    every = len([*(copy / "data").glob("*.js")])
    assert 2 <= len(loaded) <= every // 2
