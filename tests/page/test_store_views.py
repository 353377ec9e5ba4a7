"""The views of the store: requests and grants, the live board, work, bills, changes and the audit."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.keys import location_of, new_key
from tests.api.running import Server, running
from tests.gateway.use import calling, write_shop
from tests.page.accessibility import find_violations
from tests.page.conftest import LONG, MARKUP
from tests.page.proxy import proxying
from tests.page.seeding import BRIEF_BODY, ORG, build_report, send
from tests.page.test_keys import sign_in
from tests.page.test_views import click, get_address, show, wait_for
from tests.support.browser import Page
from tests.support.trees import copy_template

pytestmark = pytest.mark.browser
VIEWS = {
    "requests": ("Requests and grants", "plan the survey of the outer moons"),
    "requests?status=denied": ("Requests and grants", "not your work"),
    "requests?subject=role%3Ascout&resource=tool%3Ascheduler": ("Requests and grants", "Issue the grant"),
    "watch": ("Watch", "Weld the hull"),
    "watch?role=builder": ("Watch", "Timeline of builder"),
    "work": ("Work", "In work: Weld the hull"),
    "bills": ("Bills", "General quarters"),
    "bills/general_quarters?step=hold": ("General quarters", "approval by"),
    "changes": ("Changes", "have not changed since this server started"),
    "roles/builder?show=graph": ("Builder", "Approvers"),
    "calls": ("Calls", "NOT_BOUND_TO_ROLE"),
    "calls?q=nothing": ("Calls", "No decision in this period"),
    "audit": ("Audit", "handed down"),
    "audit?kind=grant&since=3600": ("Audit", "a day of literature"),
}
"""Addresses below the organization, each with its heading and words that the view shows."""
STARSHIP = "#/orgs/starship/"


@pytest.fixture(autouse=True)
def _quiet(page: Page) -> Iterator[None]:
    """The console stays empty, except for what the server refused, and nothing is requested from another host."""
    page.show_as(1280, 900)
    page.forget()
    yield
    assert [each for each in page.problems if "status of 40" not in each] == []
    assert [each for each in page.requested if not each.startswith(("http://127.0.0.1:", "about:"))] == []


def open_menu_and_sign_in(page: Page, key: str) -> None:
    """Sign in from the menu, as a user does who may read already."""
    click(page, ".menu > button")
    sign_in(page, key)
    page.wait("[...document.querySelectorAll('button')].some(each => each.innerText === 'Sign out')")


def press_button(page: Page, words: str) -> None:
    """Press the first button that begins with some words."""
    found = f"[...document.querySelectorAll('main button')].find(each => each.innerText.startsWith({json.dumps(words)}) && !each.disabled)"
    page.wait(found)
    page.run(f"{found}.click()")


def write_in(page: Page, selector: str, text: str) -> None:
    """Write into a field."""
    page.wait(f"document.querySelector({json.dumps(selector)})")
    page.run(f"document.querySelector({json.dumps(selector)}).focus()")
    page.type(text)


@pytest.mark.parametrize("address", VIEWS)
def test_a_view_is_shown_by_its_address_and_is_accessible(
    page: Page, stored_server: Server, address: str
) -> None:
    """Without a key on loopback; axe reports nothing, in light and dark; only tables and drawings are wider than 360 pixels."""
    heading, words = VIEWS[address]
    show(page, stored_server, STARSHIP + address, words)
    assert heading in page.run("document.querySelector('h1').innerText")
    assert find_violations(page) == []
    page.show_as(1280, 900, scheme="dark")
    assert find_violations(page, "color-contrast") == []
    page.show_as(360, 800)
    assert page.run("document.documentElement.scrollWidth") <= 360


def test_an_approval_shows_what_it_opens_before_it_is_confirmed(page: Page, stored_server: Server) -> None:
    """By keyboard: the effect, then the words, then the approval, which is stored with the words."""
    asked = send(
        stored_server,
        f"{ORG}/requests",
        {
            "requester": "role:scout",
            "resources": ["tool:codebase_query"],
            "level": "read",
            "reason": "look at the maps",
        },
        new_key(location_of(stored_server.folder / "state.db"), ["request"]),
    )["request_id"]
    show(page, stored_server, f"{STARSHIP}requests?open={asked}", "What an approval would open")
    wait_for(page, "Who may decide: person:captain, and every operator with the key scope.")
    table = page.run("document.querySelector('[aria-label=Effects] tbody').innerText")
    assert [word for word in ("denied", "allowed") if word in table] == ["denied", "allowed"]
    open_menu_and_sign_in(page, stored_server.key)
    write_in(page, f"#{asked} input", "only the maps")
    page.press("Enter")
    page.wait(f"!document.getElementById('{asked}')")
    stored = stored_server.get(f"{ORG}/requests/{asked}").json()
    assert stored["status"] == "approved"
    show(page, stored_server, f"{STARSHIP}requests?status=approved", "only the maps")
    assert "approved for one use by" in page.run("document.querySelector('main').innerText")


def test_an_approver_sees_the_call_and_others_do_not(page: Page, stored_server: Server) -> None:
    """Arguments are shown to a key that may approve: secrets masked, diffs with their lines, everything on request."""
    call = {"command": "git apply <<E\n-old\n+new\nE", "password": "tr0ub4dor", "note": "<b>bold</b>"}
    asked = send(
        stored_server,
        f"{ORG}/requests",
        {"requester": "role:scout", "resources": ["tool:codebase_query"], "level": "read", "input": call},
        new_key(location_of(stored_server.folder / "state.db"), ["request"]),
    )["request_id"]
    show(page, stored_server, f"{STARSHIP}requests?open={asked}", "The call")
    wait_for(page, "Its arguments are shown to a key with the key scope approve.")
    open_menu_and_sign_in(page, stored_server.key)
    wait_for(page, "-old\n+new")
    text = page.run("document.querySelector('dl.arguments').innerText")
    assert "tr0ub4dor" not in text
    assert "<b>bold</b>" in text
    page.run(
        "[...document.querySelectorAll('button')].find((each) => each.innerText === 'Show everything').click()"
    )
    wait_for(page, "tr0ub4dor")
    assert find_violations(page) == []


def test_a_denial_needs_words(page: Page, stored_server: Server) -> None:
    """The button is closed until a reason is written, and the audit has the reason."""
    asked = send(
        stored_server,
        f"{ORG}/requests",
        {"requester": "agent:kestrel", "resources": ["tool:codebase_query"], "reason": MARKUP},
        stored_server.key,
    )["request_id"]
    show(page, stored_server, f"{STARSHIP}requests?open={asked}", "What an approval would open")
    assert page.run("[document.querySelectorAll('main img, main script').length, window.ran ?? 0]") == [0, 0]
    open_menu_and_sign_in(page, stored_server.key)
    deny = f"[...document.querySelectorAll('#{asked} button')].find(each => each.innerText === 'Deny')"
    page.wait(f"{deny}?.disabled")
    write_in(page, f"#{asked} input", "ask the captain")
    page.wait(f"!{deny}.disabled")
    page.run(f"{deny}.click()")
    page.wait(f"!document.getElementById('{asked}')")
    stored = stored_server.get(f"{ORG}/requests/{asked}").json()
    assert stored["status"] == "denied"
    row = stored_server.get(f"/v1/audit?record={asked}").json()["rows"][0]["entry"]
    assert (row["activity"], row["reason"]) == ("denied", "ask the captain")


def test_a_missing_right_is_named_with_who_has_it(page: Page, stored_server: Server) -> None:
    """A key that may only read shows everything; a decision names the missing key scope and who may decide."""
    show(page, stored_server, f"{STARSHIP}requests", "survey of the outer moons")
    store = location_of(stored_server.folder / "state.db")
    open_menu_and_sign_in(page, new_key(store, ["read"]))
    press_button(page, "Decide")
    press_button(page, "Approve")
    wait_for(page, "lacks a scope")
    text = page.run("document.querySelector('main').innerText")
    assert "approve" in text
    assert "person:captain" in text
    assert find_violations(page) == []


def test_a_grant_is_previewed_issued_and_revoked(page: Page, stored_server: Server) -> None:
    """The form's address is the terms; nothing is stored before the confirmation, and a revocation shows what is lost."""
    show(page, stored_server, f"{STARSHIP}requests", "Give a subject something")
    open_menu_and_sign_in(page, stored_server.key)
    page.run("document.querySelector('main details').open = true")
    write_in(page, "[name=subject]", "role:counselor")
    write_in(page, "[name=resource]", "tool:query_metrics")
    page.press("Enter")
    wait_for(page, "What the grant would open")
    assert "subject=role%3Acounselor&resource=tool%3Aquery_metrics" in get_address(page)
    current = f"{ORG}/grants?subject=role:counselor"
    assert stored_server.get(current).json()["grants"] == []
    press_button(page, "Issue the grant")
    wait_for(page, "role:counselor")
    page.wait("document.querySelector('[aria-label=Grants] tbody').innerText.includes('role:counselor')")
    grant = stored_server.get(current).json()["grants"][0]
    assert (grant["level"], grant["resources"]) == ("read", ["tool:query_metrics"])
    assert 86_000 < grant["expires_at"] - time.time() <= 86_400
    click(page, f"[aria-label='Revoke {grant['grant_id']} …']")
    wait_for(page, "would lose without")
    page.wait("document.querySelector('[aria-label=\"Revoke a grant\"] tbody')?.innerText.includes('denied')")
    assert find_violations(page) == []
    press_button(page, "Revoke the grant")
    page.wait("!document.querySelector('[aria-label=Grants] tbody').innerText.includes('role:counselor')")
    assert stored_server.get(current).json()["grants"] == []


def test_a_report_appears_as_it_arrives(page: Page, stored_server: Server) -> None:
    """The stream shows it without a reload; a role that never reported is silent, and nothing is filled in for it."""
    show(page, stored_server, f"{STARSHIP}watch?show=silent", "Live: reports appear as they arrive.")
    row = "[...document.querySelectorAll('.board tbody tr')].find(each => each.innerText.includes('Pathologist'))"
    assert page.run(f"{row}.innerText.replaceAll(/\\s+/g, ' ')") == "Pathologist silent: no report never"
    show(page, stored_server, f"{STARSHIP}watch?q=pathologist", "Live: reports appear as they arrive.")
    report = build_report("pathologist", "active", "contingent", "critical", 0.5, MARKUP)
    send(stored_server, f"{ORG}/salute", report, stored_server.key)
    page.wait(f"{row}?.innerText.includes('contingent')")
    text = page.run(f"{row}.innerText")
    assert all(words in text for words in ("critical", "<img src=x", "50"))
    assert page.run("[document.querySelectorAll('main img, main b').length, window.ran ?? 0]") == [0, 0]
    assert find_violations(page) == []


def test_the_chart_is_colored_by_reported_tiers(page: Page, stored_server: Server) -> None:
    """The tier stands in words on each card; a role without a report has none."""
    show(page, stored_server, f"{STARSHIP}organization?color=pace", "alternate")
    cards = "[...document.querySelectorAll('.card')].map(each => each.innerText.replaceAll(/\\s+/g, ' '))"
    texts = page.run(cards)
    assert any("Builder" in each and "alternate" in each for each in texts)
    assert any("Data Analyst" in each and "no report" in each for each in texts)


def test_the_board_is_polled_where_a_proxy_holds_the_stream_back(page: Page, stored_server: Server) -> None:
    """The page says that it polls, and shows a report all the same."""
    with proxying(stored_server.url, "/") as url:
        page.open("about:blank#")
        page.open(f"{url}/{STARSHIP}watch?q=counselor")
        wait_for(page, "the board is asked for every five seconds")
        report = build_report("counselor", "active", "primary", "nominal", 0.1, "Listen")
        send(stored_server, f"{ORG}/salute", report, stored_server.key)
        wait_for(page, "Listen")
        page.open("about:blank#")
        # The proxy gives up on the stream after five seconds.
        page.problems[:] = [each for each in page.problems if "ERR_EMPTY_RESPONSE" not in each]


def test_a_bill_is_drawn_with_every_step(page: Page, stored_server: Server) -> None:
    """Each step is a card in the drawing and a line of the list; a step names who may do it."""
    show(page, stored_server, f"{STARSHIP}bills/general_quarters", "Hold the threat off")
    assert page.run("document.querySelectorAll('.chart li.card').length") == 8
    assert page.run("document.querySelectorAll('.chart svg g').length") == 10
    click(page, ".chart li.card a")
    wait_for(page, "time limit")
    assert get_address(page) == f"{STARSHIP}bills/general_quarters?step=sound"


def test_calls_are_counted_by_reason(page: Page, stored_server: Server) -> None:
    """Two refused calls of one tool are one row, which links to the question about it."""
    show(page, stored_server, f"{STARSHIP}calls?q=scout", "Refused, by reason 2")
    row = "document.querySelector('[aria-label=\"Refused, by reason\"] tbody tr').innerText.replaceAll(/\\s+/g, ' ')"
    assert page.run(row).startswith("NOT_BOUND_TO_ROLE 2 role:scout tool:query_metrics")
    click(page, "[aria-label='By subject and resource'] td a")
    wait_for(page, "What would allow it")


def test_tokens_refusals_and_proposals_of_a_gateway_are_shown(page: Page, tmp_path: Path) -> None:
    """A server in the folder of `gateway.lock.json`: the tokens that a role is spared, and the edits that would narrow it, with lines."""
    write_shop(tmp_path)
    store = tmp_path / "state.db"
    with calling(tmp_path, time.time()) as calls:
        calls.make("agent:ada", "tracker", "list_issues", "list_issues", times=3)
        calls.make("agent:bob", "tracker", "list_issues", "list_issues", times=6)
    with running(tmp_path, tmp_path, store=store) as shop:
        show(page, shop, "#/orgs/shop/calls", "Tokens spared")
        report = shop.get("/v1/orgs/shop/gateway-report?at_least=0&days=1").json()
        table = page.run("document.querySelector('[aria-label=\"Tokens spared\"] tbody').innerText")
        for role in report["spared"]["roles"]:
            assert f"{role['spared']:,}" in table
        for proposal in report["proposals"]:
            wait_for(page, proposal["text"].replace("`", ""))
        wait_for(page, "NOT_BOUND_TO_ROLE")
        assert find_violations(page) == []
        press_button(page, report["proposals"][0]["file"])
        page.wait("document.querySelector('.excerpt .here')")
        page.show_as(360, 800)
        assert page.run("document.documentElement.scrollWidth") <= 360
        page.open("about:blank#")


def test_open_briefs_are_divided_into_batches(page: Page, stored_server: Server) -> None:
    """Briefs that own one file are in different batches, and a plan that a user writes is divided too."""
    for number, file in enumerate(("hull/a.yaml", "hull/a.yaml", "hull/b.yaml")):
        brief = BRIEF_BODY | {
            "id": f"0b8f6f3e-52b6-4c0a-9d0c-6a1f6c1f7b0{number}",
            "mission": f"Mission {number}",
            "spec": {"scope": {"files_owned": [file]}},
        }
        send(stored_server, f"{ORG}/contracts", {"contract": brief}, stored_server.key)
    show(page, stored_server, f"{STARSHIP}work", "May start now")
    batches = page.run("[...document.querySelectorAll('.batches > li')].map(each => each.innerText)")
    assert batches == ["narrow: Mission 0, Mission 2", "narrow: Mission 1"]
    wait_for(page, "Mission 1 waits")
    assert find_violations(page) == []
    page.run(
        "[...document.querySelectorAll('summary')].find(each => each.innerText.startsWith('Divide')).click()"
    )
    write_in(page, "textarea", "_schema: orgkernel:subtask_plan\nsubtasks:\n  - {id: one, files: ['*.py']}\n")
    press_button(page, "Divide it")
    wait_for(page, "is a glob")


def test_a_request_is_filed_from_a_denied_question(page: Page, stored_server: Server) -> None:
    """The remedy of an answer is also a request, which waits for a decision."""
    question = "access?subject=role%3Asurgeon&action=use&resource=tool%3Aquery_metrics"
    show(page, stored_server, f"{STARSHIP}{question}", "File a request for it")
    open_menu_and_sign_in(page, new_key(location_of(stored_server.folder / "state.db"), ["read", "request"]))
    page.wait("document.querySelector('[name=reason]')")
    page.run(
        "[...document.querySelectorAll('summary')].find(each => each.innerText.startsWith('File')).click()"
    )
    write_in(page, "[name=reason]", "measure the drift of the probe")
    page.press("Enter")
    wait_for(page, "waits for a decision")
    requests = stored_server.get(f"{ORG}/requests").json()["requests"]
    assert [each["requester"] for each in requests if each["reason"].endswith("of the probe")] == [
        "role:surgeon"
    ]


def test_two_chosen_versions_are_compared(page: Page, tmp_path: Path) -> None:
    """After two edits, the first one can be looked at again; the address has both versions."""
    organization = copy_template(tmp_path / "starship", "starship")
    profile = organization / "roles/scout.yaml"
    text = profile.read_text(encoding="utf-8")
    without = text.replace("    - {tool: issue_tracker, level: read}\n", "")
    with running(tmp_path, organization) as server:
        show(page, server, f"{STARSHIP}changes", "have not changed")
        profile.write_text(without, encoding="utf-8")
        wait_for(page, "scout loses tool issue_tracker at level read")
        profile.write_text(
            without.replace("{tool: web_browser, level: read}", "{tool: web_browser, level: write}"),
            encoding="utf-8",
        )
        wait_for(page, "web_browser")
        assert "issue_tracker" not in page.run(
            "[...document.querySelectorAll('main .question')].map(each => each.innerText).join()"
        )
        fields = "[...document.querySelectorAll('main select')]"
        page.wait(f"{fields}[0].options.length === 3")
        versions = page.run(f"[...{fields}[0].options].map(each => each.value)")
        for field, version in ((0, versions[2]), (1, versions[1])):
            page.choose(f"{fields}[{field}]", version)
            page.wait(f"decodeURIComponent(location.hash).includes('{version}')")
        wait_for(page, "scout loses tool issue_tracker at level read")
        address = get_address(page)
        show(page, server, address, "scout loses tool issue_tracker at level read")
        assert find_violations(page) == []
        press_button(page, "Swap")
        wait_for(page, "scout gains tool issue_tracker at level read")
        show(page, server, f"{STARSHIP}changes?before=sha256%3A{'0' * 64}", "Compare the last change")
        page.open("about:blank#")


def test_the_chain_of_the_audit_is_verified_on_demand(page: Page, stored_server: Server) -> None:
    """The verdict is shown with the number of rows."""
    show(page, stored_server, f"{STARSHIP}audit", "Verify the chain")
    press_button(page, "Verify the chain")
    wait_for(page, "No row is missing, moved or changed.")
    assert find_violations(page) == []


def test_a_change_is_shown_with_its_lines(page: Page, tmp_path: Path) -> None:
    """An edit of a profile appears by itself: what the role lost, and the line."""
    organization = copy_template(tmp_path / "starship", "starship")
    profile = organization / "roles/scout.yaml"
    with running(tmp_path, organization) as server:
        show(page, server, f"{STARSHIP}changes", "have not changed")
        text = profile.read_text(encoding="utf-8")
        profile.write_text(text.replace("    - {tool: issue_tracker, level: read}\n", ""), encoding="utf-8")
        wait_for(page, "scout loses tool issue_tracker at level read")
        assert "starship/roles/scout.yaml:26" in page.run("document.querySelector('main').innerText")
        # Only lines of the version that answers can be opened: those of the other side are gone.
        sides = "[...document.querySelectorAll('main p')].filter(each => each.innerText.startsWith('SIDE:'))[0]?.querySelectorAll('.place [aria-expanded]').length ?? 0"
        assert page.run(sides.replace("SIDE", "before")) == 0
        assert find_violations(page) == []
        show(page, server, f"{STARSHIP}changes?effect=widened", "0 changes by 1 edit")
        show(page, server, f"{STARSHIP}watch", "No agent has reported yet")
        show(page, server, f"{STARSHIP}requests", "No request has been made")
        page.open("about:blank#")


def test_a_long_name_stays_in_its_column(page: Page, stored_server: Server) -> None:
    """A reason of 10,500 characters is cut, with a way to see all."""
    body = {"requester": "role:scout", "resources": ["tool:scheduler"], "reason": LONG[:1_900]}
    send(stored_server, f"{ORG}/requests", body, stored_server.key)
    page.show_as(360, 800)
    show(page, stored_server, f"{STARSHIP}requests", "Show all 1,900 characters")
    assert page.run("document.documentElement.scrollWidth") <= 360
