"""Five thousand roles: they scroll and are searched without long waits, because only what is in sight is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.running import Server, running
from tests.page.accessibility import find_violations
from tests.page.test_views import click, wait_for
from tests.support.browser import Page
from tests.support.trees import write_tree

pytestmark = pytest.mark.browser
ROLES = 5_000
EXECUTIVES = 833
DEPARTMENTS = 12
MOST_DRAWN = 120
"""Rows or cards in the document at one time."""
_MEASURED = """(async () => {
  const box = document.querySelector('%s');
  for (let step = 0; step < 40; step += 1) {
    box.scrollTop += box.scrollHeight / 40;
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
  }
  return box.scrollTop;
})()"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of one organization."""
    folder = tmp_path_factory.mktemp("large")
    write_large(folder / "measured")
    with running(folder, folder / "measured") as server:
        yield server


def write_large(folder: Path) -> None:
    """Few lines for each role, in few files, so that most of the time is the page's: a commander, executives, specialists."""
    hierarchy, documents = [], []
    below: dict[int, list[str]] = {}
    for number in range(1, ROLES):
        below.setdefault(0 if number <= EXECUTIVES else number % EXECUTIVES + 1, []).append(f"role_{number}")
    for number in range(ROLES):
        kind, level = (
            ("commander", 3)
            if not number
            else ("executive", 2)
            if number <= EXECUTIVES
            else ("specialist", 1)
        )
        hierarchy.append(f"  role_{number}: {{subordinates: [{', '.join(below.get(number, ()))}]}}\n")
        documents.append(
            f"_schema: orgkernel:role_profile\nrole_id: role_{number}\nrole_name: Role {number}\nrole_type: {kind}\n"
            f"description: Does work {number}.\ndepartment: part_{number % DEPARTMENTS}\n"
            f"chain_of_command: {{authority_level: {level}}}\n"
        )
    files = {
        f"roles/{start}.yaml": "---\n".join(documents[start : start + 500]) for start in range(0, ROLES, 500)
    }
    head = (
        "_schema: orgkernel:organization\norg_id: measured\nlimits: {span_of_control: 1000000}\nhierarchy:\n"
    )
    names = "".join(f"  part_{number}: {{name: Part {number}}}\n" for number in range(DEPARTMENTS))
    write_tree(folder, {**files, "org.yaml": f"{head}{''.join(hierarchy)}departments:\n{names}"})


def test_thousands_of_roles_scroll_and_are_searched(page: Page, large: Server) -> None:
    """In the table and in the chart, opened as far as a user can open them, also with regions and an overlay."""
    page.show_as(1280, 900)
    page.forget()
    page.open(f"{large.url}/#/orgs/measured/organization")
    wait_for(page, "5,000 roles")
    page.wait("document.querySelector('.card')")
    assert "Role 0" in page.run("document.querySelector('.chart').innerText")
    assert find_violations(page) == []
    everything = ",".join(f"role_{number}" for number in range(1, 900))
    for view, box, drawn in (
        ("view=table", ".treegrid", "[role=row]"),
        ("view=chart", ".chart", ".card"),
        ("view=chart&regions=department&overlay=all", ".chart", ".card"),
    ):
        page.open("about:blank#")
        page.open(f"{large.url}/#/orgs/measured/organization?{view}&toggled={everything}")
        page.wait(f"document.querySelector('{box}')?.scrollHeight > 36 * {ROLES}")
        before = page.count_seconds()
        assert page.run(_MEASURED % box) > 100_000
        assert (page.count_seconds() - before) / 40 < 0.05, "a step takes longer than 50 milliseconds"
        assert page.run(f"document.querySelectorAll('{drawn}').length") <= MOST_DRAWN
        is_overlaid = "overlay" in view
        assert (
            f"{ROLES - 1:,} hand-offs between the roles that are shown. At most" in page.text()
        ) is is_overlaid
        assert bool(page.run("document.querySelectorAll('svg .region rect').length")) is is_overlaid
        assert page.run("document.querySelectorAll('svg .overlay').length") == 0
        before = page.count_seconds()
        page.run("document.querySelector('input[type=search]').focus()")
        page.type("role_4999")
        wait_for(page, "1 role of 5,000")
        assert page.count_seconds() - before < 0.5
    assert page.problems == []


def test_a_large_group_of_a_graph_leads_to_the_manifest(page: Page, large: Server) -> None:
    """The graph draws the first of hundreds of subordinates, and a link after them opens all."""
    page.show_as(1280, 900)
    page.forget()
    page.open("about:blank#")
    page.open(f"{large.url}/#/orgs/measured/roles/role_0?show=graph")
    wait_for(page, f"and {EXECUTIVES - 25} more")
    assert find_violations(page) == []
    click(page, "[aria-label^='and 808 more subordinates']")
    wait_for(page, "Show its graph")
    assert page.problems == []
