"""Every view by keyboard alone: it is opened, every control is reached in order and seen, and nothing traps the focus."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.running import Server
from tests.page import test_store_views, test_views
from tests.page.test_views import get_address, show, wait_for
from tests.support.browser import Page

pytestmark = pytest.mark.browser
_CONTROLS = """[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter(each =>
  each.checkVisibility() && each.getClientRects().length && each.tabIndex >= 0 && !each.disabled && !each.matches('[type=radio]:not(:checked)'))"""
"""What Tab has to reach. The arrow keys choose among radio buttons."""
_WATCH = """(() => {
  window.reached = new Set(); window.unseen = []; window.order = [];
  addEventListener('focusin', ({target}) => {
    const style = getComputedStyle(target);
    if (target.matches('main')) return;
    if (style.outlineStyle === 'none' && style.boxShadow === 'none') unseen.push(target.outerHTML.slice(0, 200));
    if (!reached.has(target)) order.push(target);
    reached.add(target);
  });
})()"""
_MISSED = f"{_CONTROLS}.filter(each => !reached.has(each)).map(each => each.outerHTML.slice(0, 200))"
_BACKWARDS = "order.slice(1).filter((each, number) => !(order[number].compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING)).map(each => each.outerHTML.slice(0, 200))"
_NAVIGATION = [
    "Organization", "Access", "Routing", "Requests", "Watch", "Work", "Calls", "Bills", "Changes", "Audit", "Findings",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _quiet(page: Page) -> Iterator[None]:
    """The console stays empty, except for what the server refused."""
    page.show_as(1280, 900)
    page.forget()
    yield
    assert [each for each in page.problems if "status of 4" not in each] == []


def walk(page: Page) -> None:
    """Press Tab from the start of the page until every control had the focus, and once more around."""
    # Parts of a view load one after the other, and a control that comes late would not be counted.
    page.wait(
        "![...document.querySelectorAll('main [role=status]')].some(each => each.innerText.startsWith('Loading'))"
    )
    page.run("document.activeElement.blur()")
    page.run(_WATCH)
    count = page.run(f"{_CONTROLS}.length")
    for _ in range(count + 8):
        page.press("Tab")
    assert page.run(_MISSED) == []
    assert page.run("unseen") == []
    assert page.run(_BACKWARDS) == []


@pytest.mark.parametrize("address", test_views.VIEWS)
def test_every_control_of_a_view_is_reached(page: Page, server: Server, address: str) -> None:
    """In the order of the document, and the focus is always visible."""
    show(page, server, address, test_views.VIEWS[address][1])
    walk(page)


@pytest.mark.parametrize("address", test_store_views.VIEWS)
def test_every_control_of_a_view_of_the_store_is_reached(
    page: Page, stored_server: Server, address: str
) -> None:
    """The same for the views of what agents do."""
    show(page, stored_server, test_store_views.STARSHIP + address, test_store_views.VIEWS[address][1])
    walk(page)


def test_every_view_is_opened_by_the_keyboard(page: Page, stored_server: Server) -> None:
    """From the first view on: Tab goes to the name of a view, Enter opens it, and its heading follows the focus."""
    show(page, stored_server, f"{test_store_views.STARSHIP}organization", "Chief Engineer")
    for name in _NAVIGATION:
        for _ in range(20):
            page.press("Tab")
            if page.run("document.activeElement.innerText") == name:
                break
        assert page.run("document.activeElement.innerText") == name
        page.press("Enter")
        page.wait(f"location.hash.endsWith('/{name.lower()}')")
        page.wait("document.activeElement.matches('main') || location.hash.endsWith('/organization')")
        page.wait("document.querySelector('main h1')")
        page.run("document.activeElement.blur()")
        page.run("scrollTo(0, 0)")
        # After a view is opened, the next Tab is inside it, and Shift-Tab is in the navigation again.
        page.run("document.querySelector('.brand').focus()")


def test_the_way_of_a_question_is_chosen_by_the_arrow_keys(page: Page, server: Server) -> None:
    """The radio buttons of the routing view are one stop of Tab."""
    show(page, server, "#/orgs/starship/routing", "Who takes it?")
    page.run("document.querySelector('[type=radio]:checked').focus()")
    page.press("ArrowRight")
    page.wait("document.querySelector('[type=radio]:checked').value === 'domain'")


def test_a_reason_is_opened_to_its_lines_by_the_keyboard(page: Page, server: Server) -> None:
    """`why`, then the place: the lines of the document with some around it, and the line that decides is marked."""
    show(page, server, "#/orgs/starship/roles/scout", "Chain of command")
    page.run("document.querySelector('details.why summary').focus()")
    page.press("Enter", "Tab")
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "false"
    page.press("Enter")
    page.wait("document.querySelector('.excerpt .here')")
    lines = page.run("[...document.querySelectorAll('.excerpt .line')].map(each => each.innerText)")
    assert 4 <= len(lines) <= 7
    place = page.run("document.activeElement.innerText")
    number = place.rpartition(":")[2]
    assert page.run("document.querySelector('.excerpt .here .gutter').innerText") == number
    page.press("Enter")
    page.wait("!document.querySelector('.excerpt')")


def test_an_edge_of_the_graph_is_opened_by_the_keyboard(page: Page, stored_server: Server) -> None:
    """The graph of a role shows its tools, domains, skills and superiors; each edge opens the line that declares it."""
    show(page, stored_server, "#/orgs/starship/roles/scout?show=graph", "Approvers")
    for words in (
        "Reports to",
        "Domains",
        "Tools",
        "Skills",
        "Gets work from",
        "Issue tracker",
        "person:captain",
    ):
        wait_for(page, words)
    button = "document.querySelector('[aria-label=\"line of the edge: is equipped with Issue tracker\"]')"
    page.run(f"{button}.focus()")
    page.press("Enter")
    page.wait("document.querySelector('.excerpt .here')")
    assert "issue_tracker" in page.run("document.querySelector('.excerpt .here').innerText")
    address = get_address(page)
    assert "edge=" in address
    page.show_as(360, 800)
    assert page.run("document.documentElement.scrollWidth") <= 360
    page.show_as(1280, 900)
    show(page, stored_server, address, "is equipped with")
    page.wait("document.querySelector('.excerpt .here')")


def test_the_palette_finds_rules_and_commands(page: Page, server: Server) -> None:
    """A rule opens its page; a command is copied."""
    show(page, server, "#/orgs/starship/organization", "Chief Engineer")
    page.press("/")
    page.wait("document.querySelector('dialog[open] input') === document.activeElement")
    page.type("ORG202")
    page.wait("document.querySelector('[role=option]')?.innerText.includes('unknown-superior')")
    page.press("Enter")
    wait_for(page, "What it checks")
    assert get_address(page) == "#/orgs/starship/rules/ORG202"
    page.press("Control+k")
    page.wait("document.querySelector('dialog[open] input') === document.activeElement")
    page.type("orgkernel grant issue")
    page.wait("document.querySelector('[role=option]')?.innerText.includes('orgkernel grant issue')")
    page.press("Enter")
    page.wait("document.querySelector('dialog').innerText.includes('orgkernel grant issue')")
    page.press("Escape")
    page.wait("!document.querySelector('dialog')")
