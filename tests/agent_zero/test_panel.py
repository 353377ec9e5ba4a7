"""The plugin's page in a real browser, with a host's own order of insertion. It runs where a browser is installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tests.agent_zero.double import build_host, running
from tests.agent_zero.double_web import serving
from tests.agent_zero.installing import activate, install
from tests.agent_zero.saying import answer, call
from tests.support.browser import Page, browsing

pytestmark = pytest.mark.browser
PAGE = "document.querySelector('orgkernel-panel')"
BUG = "Fix the bug in parser.py"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One browser for all tests."""
    with browsing(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A running host with an organization, a chat in a role, and its server: one for all tests."""
    root = build_host(tmp_path_factory.mktemp("panel") / "host", "G3")
    install(root, "G3")
    activate(root)
    with running(root, "G3") as host:
        agent = host.open_chat()
        chats = {agent.context.id: agent.context}
        agent.context.agent0, agent.context.streaming_agent = agent, None
        sys.modules["agent"].AgentContext = SimpleNamespace(get=chats.get)
        host.say(agent, BUG, [call("browser_agent", url="https://shop.example/cart"), answer()])
        with serving(root) as server:
            yield SimpleNamespace(root=root, host=host, agent=agent, chat=agent.context.id, url=server.url)


def open_panel(page: Page, web: SimpleNamespace, order: str = "modules-first", name: str = "config") -> None:
    page.open(f"{web.url}/?order={order}&chat={web.chat}")
    page.wait("globalThis.openPage")
    open_again(page, name)


def open_again(page: Page, name: str = "config") -> None:
    page.run(f"openPage('/plugins/orgkernel/webui/{name}.html')")
    page.wait(f"{PAGE}?.querySelector('[data-do=refresh]')")


def click(page: Page, what: str) -> None:
    page.run(f"{PAGE}.querySelector('[data-do={what}]').click()")


@pytest.mark.parametrize("order", ["modules-first", "body-first"])
@pytest.mark.parametrize("name", ["config", "main"])
def test_the_page_shows_the_state_in_either_order_and_again(page, web, order, name):
    """The second opening inserts the body again and runs no script."""
    open_panel(page, web, order, name)
    page.wait(f"{PAGE}.querySelector('[data-show=role]')")
    first = page.run(f"{PAGE}.innerText")
    for expected in (
        "Bugfix Specialist",
        "PACE primary",
        "fix",
        "tokens spared",
        "1\ncall refused",
        "Last report",
        "This chat",
        "All chats",
    ):
        assert expected in first
    ran = page.run("ran")
    open_again(page, name)
    page.wait(f"{PAGE}.querySelector('[data-show=role]')")
    assert page.run(f"{PAGE}.innerText") == first
    assert (page.run("ran"), page.run("failed")) == (ran, [])


def test_a_role_is_pinned_and_released(page, web):
    """From the next message on, for the whole chat."""
    open_panel(page, web)
    page.wait(f"{PAGE}.querySelector('[data-do=choose]')")
    page.run(f"{PAGE}.querySelector('[data-do=choose]').value = 'osint_specialist'")
    click(page, "pin")
    page.wait(f"{PAGE}.querySelector('[data-do=release]')")
    assert "Pinned: OSINT Specialist" in page.text()
    assert web.agent.context.get_data("_orgkernel_pin") == "osint_specialist"
    click(page, "release")
    page.wait(f"!{PAGE}.querySelector('[data-do=release]')")
    assert web.agent.context.get_data("_orgkernel_pin") is None


def test_the_organization_is_switched_off_and_on(page, web):
    """Its file keeps its content, and the page says what there is."""
    active = web.root / "usr/organizations/active.json"
    before = active.read_bytes()
    open_panel(page, web)
    page.wait(f"{PAGE}.querySelector('[data-do=switch]').checked")
    click(page, "switch")
    page.wait(f"{PAGE}.innerText.includes('The organization is off: it was switched off.')")
    assert not active.exists()
    click(page, "switch")
    page.wait(f"{PAGE}.innerText.includes('Switched on.')")
    assert active.read_bytes() == before
    active.unlink()
    click(page, "refresh")
    page.wait(f"{PAGE}.querySelector('[data-do=switch]').disabled")
    assert "orgkernel host activate" in page.text()
    active.write_bytes(before)


def test_what_agents_and_hosts_say_is_shown_as_text(page, web):
    """A refused call with markup, and a host that answers with an error."""
    effect = sys.modules["usr.organizations.lib.orgkernel_agent_zero.effect"]
    markup = {"path": "/srv/<img src=x onerror=failed.push(1)>"}
    effect.note_refusal(web.agent, None, "bugfix_specialist", "browser_agent", None, markup)
    open_panel(page, web)
    page.wait(f"{PAGE}.querySelector('[data-show=role]')")
    assert "<img" in page.text()
    assert page.run(f"{PAGE}.querySelectorAll('img').length") == 0
    (web.root / "usr/plugins/orgkernel/api/status.py").unlink()
    click(page, "refresh")
    page.wait(f"{PAGE}.innerText.includes('cannot be read')")
    assert page.run("failed") == []
    assert json.loads((web.root / "usr/organizations/active.json").read_text())["org_id"] == "software_dev"
