"""Take the pictures of the page for the documentation: `python -m tools.page_pictures`, with Chromium.

A server of the starship gets the same records as the tests of the page. The pictures are checked in, because a clean
clone shows them without a browser.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.api.keys import location_of, new_key
from tests.api.running import running
from tests.page.seeding import seed_everything
from tests.support.browser import browsing, find_browser
from tests.support.trees import copy_template

PICTURES = Path(__file__).parents[1] / "docs" / "assets" / "page"
ADDRESSES = {
    "organization": ("organization?overlay=handoffs&at=chief_engineer", "2 roles may get work"),
    "graph": ("roles/scout?show=graph&edge=is+equipped+with%3Aissue_tracker", "Approvers"),
    "access": ("access?subject=role%3Ascout&action=use&resource=tool%3Aquery_metrics", "Access layers"),
    "requests": ("requests?open=REQUEST", "Who may decide"),
    "watch": ("watch", "Weld the hull"),
    "bills": ("bills/general_quarters", "Bill roles"),
    "changes": ("changes", "gains"),
}
"""For each picture, the address below the organization and words that the view shows when it is complete."""
WIDTH, HEIGHT = 1200, 720


def take_pictures(target: Path) -> None:
    """Write the pictures as PNG into a folder."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = location_of(folder / "state.db")
        key = new_key(store, ["admin"])
        tree = copy_template(folder / "starship", "starship")
        with (
            running(folder, tree, store=folder / "state.db") as server,
            browsing(folder / "browser") as page,
        ):
            seed_everything(server, key, new_key(store, ["request"]))
            pending = server.get("/v1/orgs/starship/requests?status=pending").json()["requests"]
            for picture, (address, words) in ADDRESSES.items():
                if picture == "changes":
                    _edit(tree / "roles/scout.yaml")
                page.show_as(WIDTH, HEIGHT)
                page.open("about:blank#")
                place = address.replace("REQUEST", pending[-1]["request_id"])
                page.open(f"{server.url}/#/orgs/starship/{place}")
                page.wait(f"document.querySelector('main')?.innerText.includes({words!r})")
                time.sleep(0.5)  # the chart scrolls to its role
                page.save_picture(target / f"{picture}.png", WIDTH, HEIGHT)


def _edit(profile: Path) -> None:
    """Give the role another tool."""
    text = profile.read_text(encoding="utf-8")
    tools = ("{tool: issue_tracker, level: read}", "{tool: query_metrics, level: read}")
    profile.write_text(text.replace(*tools), encoding="utf-8")


if __name__ == "__main__":
    if find_browser() is None:
        sys.exit("no browser is installed: install Chromium, e.g. `apt-get install chromium`")
    take_pictures(PICTURES)
