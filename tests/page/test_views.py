"""Every view in a real browser: what it shows, by address, by keyboard, with the back button, in light and dark, and narrow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.api.running import Server, running
from tests.cli.running import run
from tests.page.accessibility import find_violations
from tests.page.conftest import LONG, MARKUP, RIGHT_TO_LEFT
from tests.support.browser import Page
from tests.support.trees import copy_template, write_tree

pytestmark = pytest.mark.browser
QUESTION = (
    "#/orgs/software_dev/access?subject=role%3Acodegen_specialist&action=use&resource=tool%3Abrowser_agent"
)
SENTENCE = "#/orgs/software_dev/routing?text=Fix+the+bug+in+the+parser"
VIEWS = {
    "#/": ("Organizations", "Starship"),
    "#/orgs/starship/organization": ("Starship", "Chief Engineer"),
    "#/orgs/starship/organization?view=table": ("Starship", "Forge"),
    "#/orgs/software_dev/roles/codegen_specialist": ("Codegen Specialist", "Text editor"),
    "#/orgs/starship/agents/abacus": ("Abacus", "How it could rise"),
    QUESTION: ("May it do that?", "denied"),
    "#/orgs/starship/access": ("May it do that?", "Name a subject"),
    SENTENCE: ("Who takes it?", "Bugfix Specialist takes it"),
    "#/orgs/starship/routing?domain=bugfix": ("Who takes it?", "Who else, and why not"),
    "#/orgs/starship/organization?regions=department": ("Starship", "Chief Engineer"),
    "#/findings": ("Findings", "ORG306"),
    "#/rules": ("Rules", "unknown-superior"),
    "#/orgs/starship/rules/ORG202": ("ORG202", "Why it matters"),
    "#/orgs/hostile/organization": ("<img", "Agents without a role 1"),
    "#/orgs/hostile/roles/boss": ("<img", "<script>"),
    "#/orgs/hostile/roles/endless": ("EndlessEndless", "Show all 10,500 characters"),
}
"""Addresses, each with its heading and words that the view shows."""


def show(page: Page, server: Server, address: str, words: str, path: str = "/") -> None:
    """Open an address as if it were typed, and wait for words."""
    page.open("about:blank#")
    page.open(f"{server.url}{path}{address}")
    wait_for(page, words)


def wait_for(page: Page, words: str) -> None:
    page.wait(f"document.querySelector('main')?.innerText.includes({json.dumps(words)})")


def click(page: Page, selector: str) -> None:
    page.wait(f"document.querySelector({json.dumps(selector)})")
    page.run(f"document.querySelector({json.dumps(selector)}).click()")


def get_address(page: Page) -> str:
    return str(page.run("location.hash"))


@pytest.fixture(autouse=True)
def _quiet(page: Page) -> Iterator[None]:
    """The console stays empty, and nothing is requested from another host."""
    page.show_as(1280, 900)
    page.forget()
    yield
    assert page.problems == []
    assert [each for each in page.requested if not each.startswith(("http://127.0.0.1:", "about:"))] == []


@pytest.mark.parametrize("address", VIEWS)
def test_a_view_is_shown_by_its_address_and_is_accessible(page: Page, server: Server, address: str) -> None:
    """The heading and the content are there; axe finds nothing, in light and dark; only charts and tables are wider than 360 pixels."""
    heading, words = VIEWS[address]
    show(page, server, address, words)
    assert heading in page.run("document.querySelector('h1').innerText")
    assert find_violations(page) == []
    page.show_as(1280, 900, scheme="dark")
    assert find_violations(page, "color-contrast") == []
    page.show_as(360, 800)
    assert page.run("document.documentElement.scrollWidth") <= 360
    assert find_violations(page) == []


def test_a_violation_would_be_found(page: Page, server: Server) -> None:
    """The other tests mean something: a field without a label and pale text are reported, in either color scheme."""
    show(page, server, "#/findings", "Findings")
    page.run("document.querySelector('main').append(document.createElement('input'))")
    assert [each.split(":")[0] for each in find_violations(page)] == ["label"]
    page.run(
        "document.querySelector('main input').remove(); document.querySelector('h1').style.color = '#888'"
    )
    assert [each.split(":")[0] for each in find_violations(page, "color-contrast")] == ["color-contrast"]


def test_the_back_button_goes_through_the_views(page: Page, server: Server) -> None:
    """Each view is an entry of the history, and is shown again as it was."""
    show(page, server, "#/", "Starship")
    click(page, "a[href='#/orgs/starship/organization']")
    wait_for(page, "Chief Engineer")
    click(page, "a[href='#/orgs/starship/roles/builder']")
    wait_for(page, "Chain of command")
    page.run("history.back()")
    wait_for(page, "Vacancies")
    page.run("history.back()")
    wait_for(page, "Organizations")
    page.run("history.forward()")
    wait_for(page, "Vacancies")


def test_the_form_makes_the_address_of_the_question(page: Page, server: Server) -> None:
    """A question that is typed is the address, which another person can open."""
    show(page, server, "#/orgs/software_dev/access", "Name a subject")
    for name, value in (("subject", "role:codegen_specialist"), ("resource", "tool:browser_agent")):
        page.run(f"document.querySelector('[name={name}]').focus()")
        page.type(value)
    page.press("Enter")
    wait_for(page, "denied")
    assert get_address(page) == QUESTION
    for words in (
        "orgkernel grant issue role:codegen_specialist tool:browser_agent --level write --org software_dev",
        "role:osint_specialist",
        "roles/codegen_specialist.yaml:24",
        "15 layers without an effect",
    ):
        wait_for(page, words)


def test_circumstances_are_part_of_the_address(page: Page, server: Server) -> None:
    """The PACE tier is asked about, and the form shows it after a reload."""
    address = "#/orgs/software_dev/access?subject=role%3Aco&action=use&resource=tool%3Acall_subordinate&pace=emergency"
    show(page, server, address, "denied")
    assert page.run("document.querySelector('[name=pace]').value") == "emergency"
    show(page, server, address.replace("&pace=emergency", ""), "allowed")


def test_the_case_of_an_answer_passes(page: Page, server: Server) -> None:
    """What the page says to keep is a case that `orgkernel test` accepts, with and without circumstances."""
    for number, address in enumerate(
        (QUESTION, f"{QUESTION}&on_behalf_of=role%3Aosint_specialist&pace=primary")
    ):
        show(page, server, address, "Keep it as a case")
        text = page.run("[...document.querySelectorAll('pre')].at(-1).innerText")
        assert yaml.safe_load(text)["cases"][0]["org"] == "software_dev"
        folder = server.folder / f"kept-{number}"
        copy_template(folder, "software_dev")
        (folder / "kept.yaml").write_text(text, encoding="utf-8")
        done = run("test", folder, cwd=server.folder)
        assert (done.returncode, "0 failed" in done.stdout + done.stderr) == (0, True), (
            done.stdout + done.stderr
        )


def test_the_words_that_decided_are_marked(page: Page, server: Server) -> None:
    """The sentence shows which of its words led to the role."""
    show(page, server, SENTENCE, "Bugfix Specialist takes it")
    assert (
        page.run("[...document.querySelectorAll('mark')].map(each => each.innerText).join()")
        == "Fix,bug,parser"
    )


def test_a_task_without_a_role_is_said(page: Page, server: Server) -> None:
    """No role is invented."""
    show(page, server, "#/orgs/software_dev/routing?domain=pdf_ops", "No role takes it")


def test_the_chart_is_collapsed_focused_and_colored_by_its_address(page: Page, server: Server) -> None:
    """What a user changes is in the address, and a reload restores it."""
    show(page, server, "#/orgs/starship/organization", "Builder")
    click(page, "[aria-label='2 roles below Chief Engineer']")
    page.wait("!document.querySelector('.chart').innerText.includes('Builder')")
    page.choose("document.querySelectorAll('select')[1]", "role_type")
    page.wait("document.querySelector('.chart').innerText.includes('executive')")
    click(page, "[aria-label='Focus on Chief Engineer']")
    wait_for(page, "All roles")
    show(page, server, get_address(page), "All roles")
    assert page.run("document.querySelectorAll('.card').length") == 1
    assert "executive" in page.run("document.querySelector('.card').innerText")
    click(page, ".trail a")
    wait_for(page, "Counselor")
    assert "Builder" not in page.run("document.querySelector('.chart').innerText")


def test_a_search_shows_matches_with_their_superiors(page: Page, server: Server) -> None:
    """In the chart and in the table."""
    for view in ("chart", "table"):
        show(page, server, f"#/orgs/starship/organization?q=surgeon&view={view}", "1 role of 16")
        text = page.run("document.querySelector('main').innerText")
        assert all(name in text for name in ("First Officer", "Chief Medical Officer", "Surgeon")), view
        assert "Pharmacologist" not in text, view
    show(page, server, "#/orgs/starship/organization?q=zzz", "No role fits these words")


def test_lines_of_a_role_are_drawn_over_the_chart(page: Page, server: Server) -> None:
    """Hand-offs and escalation of the role that the address points at, by the button of a card, also in words."""
    show(page, server, "#/orgs/starship/organization?overlay=handoffs", "Choose ⇄ on a role")
    click(page, "[aria-label='Draw the lines of Chief Engineer']")
    wait_for(page, "2 roles may get work from it, and 1 role may hand work to it")
    page.wait("document.querySelectorAll('svg .overlay.handoffs').length === 3")
    assert find_violations(page) == []
    show(
        page,
        server,
        "#/orgs/software_dev/organization?overlay=escalation&at=codegen_specialist",
        "it escalates to",
    )
    page.wait("document.querySelectorAll('svg .overlay.escalation').length >= 1")


def test_the_handoffs_of_all_roles_are_drawn_over_the_chart(page: Page, server: Server) -> None:
    """Those between the roles that are shown, and their number in words."""
    chart = server.get("/v1/orgs/starship").json()["chart"]
    count = sum(len(role["handoff_targets"]) for role in chart)
    show(page, server, "#/orgs/starship/organization", "Builder")
    page.choose(
        "[...document.querySelectorAll('label.field')].find(each => each.innerText.startsWith('Draw')).querySelector('select')",
        "all",
    )
    wait_for(page, f"{count} hand-offs between the roles that are shown.")
    assert get_address(page) == "#/orgs/starship/organization?overlay=all"
    page.show_as(1280, 2400)
    page.wait(f"document.querySelectorAll('svg .overlay.handoffs').length === {count}")
    assert find_violations(page) == []
    show(page, server, "#/orgs/starship/organization?overlay=all&focus=chief_engineer", "hand-offs between")
    inside = {"chief_engineer"} | {
        role["role_id"] for role in chart if role["reports_to"] in ("chief_engineer", "engineering_officer")
    }
    fewer = sum(len(inside & set(role["handoff_targets"])) for role in chart if role["role_id"] in inside)
    wait_for(page, f"{fewer} hand-offs between the roles that are shown.")
    assert 0 < fewer < count


def test_the_graph_names_approvers_without_a_store(page: Page, server: Server) -> None:
    """The documents say who may grant."""
    show(page, server, "#/orgs/starship/roles/scout?show=graph", "Approvers")
    assert "person:captain" in page.text()
    assert "Who approves is not shown" not in page.text()


def test_the_text_of_an_agent_stands_beside_its_findings(page: Page, tmp_path: Path) -> None:
    """A folder of Claude Code agents: what the model is told, as text, and the finding about the same file."""
    body = f"You review code.\n\n{MARKUP}\n"
    head = "---\nname: reviewer\ndescription: Reviews a diff.\ntools: Read, Greb\n---\n"
    write_tree(tmp_path / "shop", {".claude/agents/reviewer.md": head + body})
    with running(tmp_path, tmp_path / "shop") as shop:
        show(page, shop, "#/orgs/shop/roles/reviewer", "What its model is told")
        wait_for(page, "which Claude Code does not have")
        assert page.run("document.querySelector('pre.prose').textContent") == body
        assert page.run("[document.querySelectorAll('main img, main script').length, window.ran ?? 0]") == [
            0,
            0,
        ]
        assert find_violations(page) == []
        page.open("about:blank#")


def test_the_treegrid_works_by_keyboard(page: Page, server: Server) -> None:
    """Arrows move, close and open, End and Home go to the ends, and Enter opens the role."""
    show(page, server, "#/orgs/starship/organization?view=table", "Forge")
    active = "document.activeElement.innerText.split('\\n').find(each => /[A-Z]/.test(each))"
    page.run("document.querySelector('[role=row][tabindex=\"0\"]').focus()")
    assert page.run("document.activeElement.getAttribute('aria-level')") == "1"
    page.press("ArrowDown")
    page.wait(f"{active} === 'Chief Engineer'")
    page.press("ArrowLeft")
    page.wait("document.activeElement.getAttribute('aria-expanded') === 'false'")
    page.press("ArrowRight", "ArrowRight")
    page.wait(f"{active} === 'Engineering Officer'")
    page.press("ArrowLeft")
    page.wait(f"{active} === 'Chief Engineer'")
    page.press("End")
    page.wait(f"{active} === 'Counselor'")
    page.press("Home")
    page.wait(f"{active} === 'First Officer'")
    page.press("Enter")
    wait_for(page, "Chain of command")
    assert get_address(page) == "#/orgs/starship/roles/first_officer"


def test_regions_are_drawn_behind_the_chart(page: Page, server: Server) -> None:
    """Departments or hand-off layers: each has a name, and all of its roles are inside."""
    show(page, server, "#/orgs/starship/organization?regions=department", "Chief Engineer")
    names = page.run("[...document.querySelectorAll('svg text')].map(each => each.textContent)")
    assert {"engineering", "science", "bridge"} <= set(names)
    inside = page.run(
        "[...document.querySelectorAll('.card')].map(card => card.getBoundingClientRect()).filter(card => card.bottom > 0)"
        ".every(card => [...document.querySelectorAll('.region rect')].map(each => each.getBoundingClientRect())"
        ".some(each => each.left <= card.left && each.right >= card.right && each.top <= card.top && each.bottom >= card.bottom))"
    )
    assert inside is True
    show(page, server, "#/orgs/software_dev/organization?regions=layer", "Commanding Officer")
    layers = {each["layer"] for each in server.get("/v1/orgs/software_dev").json()["chart"]} - {None}
    assert set(page.run("[...document.querySelectorAll('svg text')].map(each => each.textContent)")) == layers


def test_a_change_of_the_regions_is_in_the_address(page: Page, server: Server) -> None:
    """The choice is made by its field and restored by the address."""
    show(page, server, "#/orgs/starship/organization", "Chief Engineer")
    field = "[...document.querySelectorAll('label.field')].find(each => each.innerText.startsWith('Regions')).querySelector('select')"
    page.choose(field, "department")
    page.wait("document.querySelector('.region rect')")
    assert get_address(page) == "#/orgs/starship/organization?regions=department"


def test_the_palette_finds_by_a_few_letters(page: Page, server: Server) -> None:
    """`/` opens it, arrows choose, Enter goes, and Escape closes it."""
    show(page, server, "#/orgs/starship/organization", "Chief Engineer")
    page.press("/")
    page.wait("document.querySelector('dialog[open] input') === document.activeElement")
    assert find_violations(page) == []
    page.type("surg")
    page.wait("document.querySelector('[role=option]').innerText.includes('Surgeon')")
    page.press("Enter")
    wait_for(page, "Chain of command")
    assert get_address(page) == "#/orgs/starship/roles/surgeon"
    page.press("Control+k")
    page.wait("document.querySelector('dialog[open]')")
    page.press("Escape")
    page.wait("!document.querySelector('dialog')")


def test_a_user_changes_the_organization(page: Page, server: Server) -> None:
    """The chooser names every organization, and the other one is shown under its address."""
    show(page, server, "#/orgs/starship/organization", "Chief Engineer")
    page.choose("document.querySelector('.top select')", "software_dev")
    wait_for(page, "Commanding Officer")
    assert get_address(page) == "#/orgs/software_dev/organization"
    assert "Chief Engineer" not in page.run("document.querySelector('main').innerText")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("#/nowhere", "This address names no view"),
        ("#/orgs/starship/roles/%E0%A4%A", "To go on"),
        ("#/orgs/nobody/organization", "The organization does not exist"),
        ("#/orgs/starship/roles/nobody", "The role does not exist"),
        ("#/orgs/starship/agents/nobody", "To go on"),
        (
            "#/orgs/starship/organization?color=__proto__&focus=nobody&at=constructor&toggled=%00",
            "Chief Engineer",
        ),
    ],
)
def test_a_wrong_address_is_explained(page: Page, server: Server, address: str, words: str) -> None:
    """Also one that was made to break the page."""
    show(page, server, address, words)
    page.problems[:] = [each for each in page.problems if "404 (Not Found)" not in each and "422" not in each]


def test_hostile_texts_stay_text(page: Page, server: Server) -> None:
    """Markup is shown as it is written, and text that runs from right to left changes nothing around it."""
    addresses = [
        "organization",
        "organization?view=table",
        "roles/boss",
        "roles/endless",
        "agents/first",
        "access?subject=role%3Aboss&action=use&resource=tool%3A%3Cimg%20src%3Dx%3E",
        "routing?text=%3Cscript%3Ewindow.ran%3D1%3C%2Fscript%3E",
    ]
    for address in addresses:
        show(page, server, f"#/orgs/hostile/{address}", "")
        page.wait("document.querySelector('main h1')")
        assert page.run(
            "[document.querySelectorAll('main img, main script, main b, main i').length, window.ran ?? 0]"
        ) == [0, 0]
    show(page, server, "#/orgs/hostile/roles/backward", "specialist")
    assert RIGHT_TO_LEFT in page.run("document.querySelector('h1 bdi').textContent")
    show(page, server, "#/orgs/hostile/roles/endless", "Show all")
    click(page, "h1 button")
    page.wait(f"document.querySelector('h1').textContent.length >= {len(LONG)}")
