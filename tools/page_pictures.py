"""Take the pictures of the page for the documentation: `python -m tools.page_pictures`, with Chromium.

A server of the starship gets the same records as the tests of the page. The pictures that the documentation shows are
checked in, because a clean clone shows them without a browser. Those of all other views are for a look at them only, and
go to a folder that is not.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.api.keys import location_of, new_key
from tests.api.running import running
from tests.page.seeding import seed_everything
from tests.page.test_store_views import open_menu_and_sign_in
from tests.support.browser import Page, browsing, find_browser
from tests.support.trees import copy_template

_ROOT = Path(__file__).parents[1]
PICTURES = _ROOT / "docs" / "assets" / "page"
OTHER_PICTURES = _ROOT / ".work" / "page"
SHOWN = {
    "organization": ("organization?overlay=handoffs&at=chief_engineer", "2 roles may get work"),
    "graph": ("roles/scout?show=graph&edge=is+equipped+with%3Aissue_tracker", "Approvers"),
    "access": ("access?subject=role%3Ascout&action=use&resource=tool%3Aquery_metrics", "Access layers"),
    "requests": ("requests?open=REQUEST", "Who may decide"),
    "watch": ("watch", "Weld the hull"),
    "bills": ("bills/general_quarters", "Bill roles"),
    "changes": ("changes", "gains"),
}
"""The pictures of the documentation: the address below the organization, and words that the complete view shows."""
OTHERS = {
    "all_handoffs": ("organization?overlay=all&regions=department", "hand-offs between"),
    "table": ("organization?view=table", "Forge"),
    "role": ("roles/scout", "Chain of command"),
    "agent": ("agents/abacus", "How it could rise"),
    "routing": ("routing?text=Repair+the+hull+of+the+ship", "takes it"),
    "timeline": ("watch?role=builder", "Timeline of builder"),
    "work": ("work", "In work: Weld the hull"),
    "calls": ("calls", "NOT_BOUND_TO_ROLE"),
    "bill_list": ("bills", "General quarters"),
    "audit": ("audit", "handed down"),
    "rules": ("rules", "ORG202"),
    "rule": ("rules/ORG202", "What it checks"),
}
"""The pictures of the other views, in the same form."""
OF_TWO = {"organizations": ("/", "Software"), "findings": ("/findings", "ORG")}
"""Pictures of a server of two organizations, one of which has a mistake: the address, and words."""
WIDTH, HEIGHT = 1200, 720


def take_pictures(shown: Path, others: Path) -> None:
    """Write the pictures of the documentation as PNG into one folder, and those of the other views into another."""
    for target in (shown, others):
        target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, browsing(Path(name) / "browser") as page:
        folder = Path(name)
        store = location_of(folder / "state.db")
        key = new_key(store, ["admin"])
        tree = copy_template(folder / "starship", "starship")
        with running(folder, tree, store=folder / "state.db") as server:
            seed_everything(server, key, new_key(store, ["request"]))
            pending = server.get("/v1/orgs/starship/requests?status=pending").json()["requests"]
            for picture, (address, words) in (OTHERS | SHOWN).items():
                if picture == "changes":
                    _edit(tree / "roles/scout.yaml", "issue_tracker", "query_metrics")
                place = address.replace("REQUEST", pending[-1]["request_id"])
                target = shown if picture in SHOWN else others
                url = f"{server.url}/#/orgs/starship/{place}"
                _take(page, url, words, target / f"{picture}.png", key if picture == "requests" else "")
            page.open("about:blank#")
        _edit(tree / "roles/scout.yaml", "query_metrics", "query_metric")
        other = copy_template(folder / "software_dev", "software_dev")
        with running(folder, tree, other) as server:
            for picture, (address, words) in OF_TWO.items():
                _take(page, f"{server.url}/#{address}", words, others / f"{picture}.png")


def _take(page: Page, url: str, words: str, target: Path, key: str = "") -> None:
    """Take the picture of a view, signed in if a key is given."""
    page.show_as(WIDTH, HEIGHT)
    page.open("about:blank#")
    page.open(url)
    if key:
        page.wait("document.querySelector('.menu > button')")
        open_menu_and_sign_in(page, key)
        page.run("document.querySelector('main')?.scrollTo(0, 0)")
    page.wait(f"document.querySelector('main')?.innerText.includes({words!r})")
    time.sleep(0.5)  # the chart scrolls to its role
    page.save_picture(target, WIDTH, HEIGHT)


def _edit(profile: Path, before: str, after: str) -> None:
    """Replace a tool of the role."""
    text = profile.read_text(encoding="utf-8")
    tools = (f"{{tool: {before}, level: read}}", f"{{tool: {after}, level: read}}")
    profile.write_text(text.replace(*tools), encoding="utf-8")


if __name__ == "__main__":
    if find_browser() is None:
        sys.exit("no browser is installed: install Chromium, e.g. `apt-get install chromium`")
    take_pictures(PICTURES, OTHER_PICTURES)
    print(f"the pictures of the other views are in {OTHER_PICTURES.relative_to(_ROOT)}")
